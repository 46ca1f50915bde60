import { isSql, type Statement } from '../core/statement.ts'
import type { Port } from './port.ts'

/**
 * Makes sure of the tables and rows that plans need, once for each `locks` object.
 *
 * They are made on a connection of their own. Says whether any was made just now: a transaction that began before may
 * not see it.
 */
export type Needs = (statements: readonly Statement[]) => Promise<boolean>

export function createNeeds<Tx>(port: Port<Tx>): Needs {
  const made = new Map<string, Promise<void>>()
  return async (statements) => {
    const missing = statements.filter((statement) => !made.has(nameOf(statement)))
    // in their order: a row needs its table
    for (const statement of statements) {
      const name = nameOf(statement)
      const making = made.get(name) ?? make(port, statement)
      made.set(name, making)
      await making.catch((error: unknown) => {
        made.delete(name)
        throw error
      })
    }
    return missing.length > 0
  }
}

async function make<Tx>({ sessions }: Port<Tx>, statement: Statement): Promise<void> {
  const session = await sessions.open()
  try {
    await session.run(statement)
  } finally {
    await session.release()
  }
}

function nameOf(statement: Statement): string {
  return isSql(statement)
    ? JSON.stringify([statement.sql, ...statement.params.map(String)])
    : JSON.stringify(statement.command)
}
