import type { Session } from '../core/session.ts'
import type { Row, Statement } from '../core/statement.ts'

/**
 * Sends statements one after another, and gives the rows of the last one.
 *
 * All are handed over at once, so that no statement that the work sends meanwhile comes between: where the last one
 * asks how many rows were changed, it would answer for that.
 */
export async function sendTogether(
  { run }: Pick<Session, 'run'>,
  statements: readonly Statement[],
): Promise<readonly Row[]> {
  const answers = statements.map((statement) => run(statement))
  for (const answer of answers) answer.catch(() => {}) // the first error is the one that counts
  let rows: readonly Row[] = []
  for (const answer of answers) rows = await answer
  return rows
}
