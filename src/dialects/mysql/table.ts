import type { CheckedTable } from '../../core/check-request.ts'
import type { PlanDraft } from '../../core/plan.ts'
import { emulated, native, stronger } from '../../core/support.ts'
import { quoteTable, sql } from '../sql.ts'
import { syntax } from './syntax.ts'
import { lockWaitSeconds, wholeSeconds } from './timeout.ts'

/**
 * LOCK TABLES as the manual wants it beside a transaction: with autocommit off and without START TRANSACTION, which
 * would unlock the tables. With a table of InnoDB the transaction begins with it: from there on the server says with every
 * answer whether the transaction is still there. `hasWaitClause`: NOWAIT and WAIT n stand behind the tables.
 *
 * The level is not said. Seen on MySQL 9.7 and MariaDB 10.11: a SET TRANSACTION before has no effect, and one behind is
 * refused. But no other table can be used, and nobody else can change these: that is as much as any level asks for.
 *
 * @see https://dev.mysql.com/doc/refman/9.0/en/lock-tables.html
 */
export function table(request: CheckedTable, hasWaitClause: boolean): PlanDraft {
  const { wait, mode, blockReaders, aliases } = request
  const name = quoteTable(syntax, request.table)
  const names = [name, ...aliases.map((alias) => `${name} AS ${syntax.quote(alias)}`)]
  const isNowait = wait === 'nowait'
  const seconds = typeof wait === 'object' ? wholeSeconds(wait.timeoutMs) : 1
  const isLimited = wait !== 'block'
  const end = isLimited && hasWaitClause ? (isNowait ? ' NOWAIT' : ` WAIT ${seconds}`) : ''
  const isSet = isLimited && !hasWaitClause
  return {
    support:
      isSet && isNowait
        ? emulated('table', 'the shortest wait for a table is one second')
        : mode === 'shared' || blockReaders
          ? native('table')
          : stronger('table', 'WRITE keeps readers out as well'),
    waiting: {
      by: isNowait && hasWaitClause ? 'nobody' : 'server',
      ...(isLimited && { timeoutMs: seconds * 1000, isRefusal: isNowait }),
    },
    ...(isSet && { setting: lockWaitSeconds(seconds, 'call') }),
    atOnce: {
      before: [sql('SET autocommit = 0')],
      lock: `LOCK TABLES {tables}${end}`,
      tables: names.map((one) => `${one} ${mode === 'shared' ? 'READ' : 'WRITE'}`),
    },
    afterEnd: [sql('SET autocommit = 1'), sql('UNLOCK TABLES')],
  }
}
