import type { Row, Statement } from '../../src/core/statement.ts'
import type { EngineSession } from '../engines/engine.ts'

/** The row or document of one lease, reached without the statements under test. */
export interface LeaseRow {
  readonly read: () => Promise<Row | undefined>
  /** Lets it run out, as if its time had passed on the server. */
  readonly expire: () => Promise<void>
  readonly remove: () => Promise<void>
  /** What a clock that was far ahead would have left behind. */
  readonly setFence: (fence: number) => Promise<void>
}

export function leaseRow(engineName: string, session: EngineSession, name: string): LeaseRow {
  const statements = engineName === 'mongodb' ? documentStatements(name) : rowStatements(name)
  const run = async (statement: Statement): Promise<void> => void (await session.run(statement))
  return {
    read: async () => (await session.run(statements.read))[0],
    expire: () => run(statements.expire),
    remove: () => run(statements.remove),
    setFence: (fence) => run(statements.setFence(fence)),
  }
}

interface RowStatements {
  readonly read: Statement
  readonly expire: Statement
  readonly remove: Statement
  readonly setFence: (fence: number) => Statement
}

/** The values stand in the text, since each engine writes parameters in its own way. */
function rowStatements(name: string): RowStatements {
  const where = `WHERE name = '${name}'`
  const sql = (text: string): Statement => ({ sql: text, params: [] })
  return {
    read: sql(`SELECT name, owner, fence, expires_at FROM _leases ${where}`),
    expire: sql(`UPDATE _leases SET expires_at = 1 ${where}`),
    remove: sql(`DELETE FROM _leases ${where}`),
    setFence: (fence) => sql(`UPDATE _leases SET fence = ${fence} ${where}`),
  }
}

function documentStatements(name: string): RowStatements {
  const q = { _id: name }
  const set = (fields: Row): Statement => ({
    command: { update: '_leases', updates: [{ q, u: { $set: fields } }] },
  })
  return {
    read: { command: { find: '_leases', filter: q } },
    // not long ago: what expired a week ago is deleted
    expire: set({ expiresAt: new Date(Date.now() - 1000) }),
    remove: { command: { delete: '_leases', deletes: [{ q, limit: 1 }] } },
    setFence: (fence) => set({ fence }),
  }
}
