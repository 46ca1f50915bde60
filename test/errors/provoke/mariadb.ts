import type { Provocations } from '../scenario.ts'
import { errorOf } from '../stage.ts'
import { crossedNames, protocolScenarios } from './mysql-protocol.ts'
import { meets, ofConnector, tables } from './mysql-stage.ts'
import { sql } from './sql.ts'

const onlyMysql = 'only MySQL has it'
const legacy = 'the C client has it, or servers give another code for the same'

const mariadb: Provocations = {
  ...tables,
  scenarios: [
    ...protocolScenarios,
    {
      name: 'two sessions take two named locks in opposite order',
      expect: { kind: 'deadlock', transaction: 'open', key: '1213 / GET_LOCK' },
      run: crossedNames,
    },
    {
      name: 'NOWAIT on a row, which MariaDB calls a timeout',
      expect: { kind: 'lock-timeout', transaction: 'open', key: '1205' },
      run: meets('select n from items where id = 1 for update nowait'),
    },
    {
      name: 'max_statement_time while waiting for a row',
      expect: { kind: 'cancelled', transaction: 'open', key: '1969' },
      run: meets('set statement max_statement_time = 0.05 for select n from items where id = 1 for update'),
    },
    {
      name: 'innodb_snapshot_isolation locks a row that has changed since the snapshot',
      expect: { kind: 'serialization', transaction: 'rolled-back', key: '1020' },
      since: '10.11.9',
      run: async (stage) => {
        const session = await stage.open()
        await session.run(sql('set innodb_snapshot_isolation = on'))
        const victim = await stage.marked(session)
        await victim.run(sql('select * from items'))
        await (await stage.open()).run(sql('update items set n = n + 1 where id = 1'))
        return {
          session: victim,
          error: await errorOf(victim.run(sql('select n from items where id = 1 for update'))),
        }
      },
    },
  ],
  notProvoked: {
    ...ofConnector,
    '3058': onlyMysql,
    '3572': onlyMysql,
    '3024': onlyMysql,
    '3169': onlyMysql,
    '4031': onlyMysql,
    '1180': onlyMysql,
    '1180 / 149': onlyMysql,
    '3100 / before_commit': onlyMysql,
    '3101': onlyMysql,
    '1206': 'takes a table of some hundred megabytes, locked row by row',
    '1022': legacy,
    '1169': legacy,
    '1586': legacy,
    '2006': legacy,
    '2013': legacy,
    '1053': 'lasts for an instant while a server shuts down',
    '1927': 'mysql2 hears only that the connection has ended',
  },
}

export default mariadb
