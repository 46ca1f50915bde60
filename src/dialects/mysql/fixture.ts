import { sqlFixture } from '../fixture-sql.ts'
import { sql } from '../sql.ts'
import type { Fixture } from '../tools.ts'
import { syntax } from './syntax.ts'

/** What Holdfast, or an application beside it, could leave behind on a connection. MariaDB says `tx_`. */
const settings = [
  'autocommit',
  'innodb_lock_wait_timeout',
  'lock_wait_timeout',
  'transaction_isolation',
  'tx_isolation',
  'transaction_read_only',
  'tx_read_only',
  'sql_mode',
]

export const fixture: Fixture = sqlFixture(syntax, {
  tableOptions: 'ENGINE = InnoDB',
  // one statement that MySQL and MariaDB both have, and that needs no rights
  settings: sql(
    `SHOW SESSION VARIABLES WHERE Variable_name IN (${settings.map((name) => `'${name}'`).join(', ')})`,
  ),
})
