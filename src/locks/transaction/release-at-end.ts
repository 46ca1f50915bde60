import { LockLostError } from '../../core/errors.ts'
import { readAnswer } from '../../core/statement.ts'
import { inGrace } from '../limit.ts'
import type { OpenTransaction } from '../port.ts'
import type { SessionEnd } from '../session-end.ts'

/** Ends the locks that belong to the connection: after COMMIT, so that the next holder sees what was stored. */
export async function releaseAtEnd(
  { session, atEnd }: OpenTransaction<unknown>,
  { doubt, isInDoubt }: SessionEnd,
): Promise<void> {
  for (const statement of atEnd.toReversed()) {
    if (isInDoubt()) return // the lock ends with the connection
    try {
      const rows = await inGrace(session.run(statement))
      const answer = statement.answers && readAnswer(statement.answers, rows)
      if (statement.answers !== undefined && answer !== 'released')
        throw new LockLostError('a lock was not held any more when it was to be released')
    } catch (error) {
      doubt(error)
    }
  }
}
