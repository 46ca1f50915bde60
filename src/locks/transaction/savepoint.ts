import type { OpenTransaction } from '../port.ts'

/**
 * Runs `work` so that its error leaves the transaction as it was before it, where an error would end the transaction.
 *
 * A savepoint that is released keeps the locks taken since; one that is rolled back to gives them up, and with them
 * the settings changed since.
 */
export function withSavepoint<T>(
  open: OpenTransaction<unknown>,
  isAsked: boolean,
  work: () => Promise<T>,
): Promise<T> {
  return isAsked && open.dialect.transaction.savesBySavepoint === true ? atSavepoint(open, work) : work()
}

async function atSavepoint<T>(
  { session, doubt }: OpenTransaction<unknown>,
  work: () => Promise<T>,
): Promise<T> {
  const say = async (sql: string): Promise<void> => void (await session.run({ sql, params: [] }))
  // Not waited for: what the caller's work sends meanwhile would come behind it, and be undone with it in silence.
  const begun = say('SAVEPOINT holdfast')
  begun.catch(() => {})
  let result: T
  try {
    result = await work()
  } catch (error) {
    await begun
    await say('ROLLBACK TO SAVEPOINT holdfast').catch(doubt)
    throw error
  }
  // Where this fails, a statement of the caller's has. To go back would undo, in silence, what else it has sent since.
  await say('RELEASE SAVEPOINT holdfast')
  return result
}
