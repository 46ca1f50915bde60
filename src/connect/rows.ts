import type { Session } from '../core/session.ts'
import type { SqlStatement } from '../core/statement.ts'

/** A statement without values. */
export function sql(text: string): SqlStatement {
  return { sql: text, params: [] }
}

/** What a query gives in its column `name`. */
export async function namesIn(session: Session, text: string): Promise<readonly string[]> {
  return (await session.run(sql(text))).map(({ name }) => String(name))
}
