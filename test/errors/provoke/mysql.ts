import type { Provocations } from '../scenario.ts'
import { crossedNames, protocolScenarios } from './mysql-protocol.ts'
import { connection, meets, ofConnector, tables } from './mysql-stage.ts'

const onlyMariadb = 'only MariaDB has it'
const cluster = 'Group Replication only, which takes several servers'
const legacy = 'the C client has it, or servers give another code for the same'

const mysql: Provocations = {
  ...tables,
  scenarios: [
    ...protocolScenarios,
    {
      name: 'two sessions take two named locks in opposite order',
      expect: { kind: 'deadlock', transaction: 'open', key: '3058' },
      run: crossedNames,
    },
    {
      name: 'NOWAIT on a row',
      expect: { kind: 'lock-not-available', transaction: 'open', key: '3572' },
      run: meets('select n from items where id = 1 for update nowait'),
    },
    {
      name: 'max_execution_time while waiting for a row',
      expect: { kind: 'cancelled', transaction: 'open', key: '3024' },
      run: meets('select /*+ max_execution_time(50) */ n from items where id = 1 for update'),
    },
    {
      name: 'a session that is idle for too long',
      expect: { kind: 'connection-lost', transaction: 'unknown', key: '4031' },
      run: async (stage) => {
        const raw = await connection(stage)
        const error = new Promise((resolve) => raw.once('error', resolve))
        await raw.query('set wait_timeout = 1')
        return { error: await error }
      },
    },
  ],
  notProvoked: {
    ...ofConnector,
    '1213 / GET_LOCK': onlyMariadb,
    '1020': onlyMariadb,
    '1969': onlyMariadb,
    '1927': onlyMariadb,
    '1180': cluster,
    '1180 / 149': cluster,
    '3100 / before_commit': cluster,
    '3101': cluster,
    '1206': 'takes a table of some hundred megabytes, locked row by row',
    '1022': legacy,
    '1169': legacy,
    '1586': legacy,
    '2006': legacy,
    '2013': legacy,
    '1053': 'lasts for an instant while a server shuts down',
    '3169': 'mysql2 hears only that the connection has ended',
  },
}

export default mysql
