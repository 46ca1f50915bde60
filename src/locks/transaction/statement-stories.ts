import { statementChannel } from '../../events/channels.ts'
import { note } from '../../events/note.ts'
import { StatementStories } from '../../events/statement-story.ts'
import type { OpenTransaction } from '../port.ts'

/** Has the statements of the transaction told, where somebody listens and the adapter shows them. */
export function tellStatements(open: OpenTransaction<unknown>): void {
  if (!statementChannel.hasSubscribers) return
  const { adapter, dialect, event, session } = open
  const { witness } = session
  const isShown = witness !== undefined && 'ear' in witness
  if (event !== undefined) note(event, { showsStatements: isShown })
  if (!isShown) return
  open.statements = new StatementStories({ adapter, dialect: dialect.name }, event, [dialect])
  witness.ear = open.statements
}

export function stopStatements({ statements, session }: OpenTransaction<unknown>): void {
  if (statements === undefined) return
  statements.over()
  if (session.witness !== undefined) session.witness.ear = undefined
}

/** Tells of the statement that ends the transaction, which is the driver's own on some databases. */
export function tellEnding(
  { statements }: OpenTransaction<unknown>,
  text: 'COMMIT' | 'ROLLBACK',
  end: () => Promise<void>,
): Promise<void> {
  if (statements === undefined) return end()
  statements.over()
  statements.sent(text)
  return end().then(
    () => statements.answered(),
    (error: unknown) => {
      statements.answered(error)
      throw error
    },
  )
}
