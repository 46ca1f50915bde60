import type { Session } from '../../src/core/session.ts'
import type { SqlStatement, Statement } from '../../src/core/statement.ts'
import type { Engine } from '../engines/engine.ts'
import { until } from '../engines/use.ts'

/** How to make an engine end a transaction by an error, and how to make one that leaves the transaction as it is. */
export interface Provocation {
  /** Runs after the engine's own sample. */
  readonly setUp?: readonly Statement[]
  /** Rejects with the error that ends the transaction. The counter has been written in it. */
  readonly abort: (session: Session, engine: Engine) => Promise<unknown>
  /** Rejects, and COMMIT would still store everything. Absent where every error ends a transaction. */
  readonly stumble?: (session: Session) => Promise<unknown>
}

const sql = (text: string): SqlStatement => ({ sql: text, params: [] })
const duplicate = sql('insert into counter values (1, 0)')

const mysql: Provocation = {
  setUp: [sql('insert into counter values (2, 0), (3, 0), (4, 0), (5, 0)')],
  abort: async (session, engine) => {
    const rival = await engine.open()
    try {
      await rival.begin()
      // of two in a deadlock, the one that has changed less is the victim
      await rival.run(sql('update counter set n = n + 1 where id > 1'))
      const waiting = rival.run(sql('update counter set n = n + 0 where id = 1'))
      await until(() => engine.isWaiting(rival), 'the rival waits for the first row')
      const victim = session.run(sql('update counter set n = n + 1 where id = 2'))
      await Promise.allSettled([victim, waiting])
      return await victim
    } finally {
      await rival.close()
    }
  },
  stumble: (session) => session.run(duplicate),
}

export const provocations: Readonly<Record<string, Provocation>> = {
  postgres: {
    abort: (session) => session.run(duplicate),
    stumble: async (session) => {
      await session.run(sql('savepoint before'))
      try {
        return await session.run(duplicate)
      } finally {
        await session.run(sql('rollback to savepoint before'))
      }
    },
  },
  mysql,
  mariadb: mysql,
  sqlite: {
    abort: (session) => session.run(sql('insert or rollback into counter values (1, 0)')),
    stumble: (session) => session.run(duplicate),
  },
  duckdb: {
    abort: (session) => session.run(sql("select cast('x' as integer)")),
    stumble: (session) => session.run(sql('no statement')),
  },
  mongodb: {
    abort: (session) => session.run({ command: { insert: 'counter', documents: [{ _id: 1 }] } }),
  },
}
