import type { TransactionStart } from '../core/session.ts'
import type { SqlStatement } from '../core/statement.ts'

const words = 'SET lock_timeout = '

/** Travels with the beginning of a transaction, where there is room for a text only. */
export function lockTimeout(ms: number): { readonly head: SqlStatement } {
  return { head: { sql: `${words}${ms}`, params: [] } }
}

/** The limit that a transaction begins with. */
export function lockTimeoutIn({ head = [] }: TransactionStart): number | undefined {
  const text = head.find(({ sql }) => sql.startsWith(words))?.sql
  return text === undefined ? undefined : Number(text.slice(words.length))
}
