import type { OpenTransaction } from '../port.ts'

interface Saving {
  readonly isAsked: boolean
  /** Waited for before the savepoint is set, so that the work sends its statement together with it. */
  readonly ready?: (() => Promise<(why: unknown) => void>) | undefined
}

/**
 * Runs `work` so that its error leaves the transaction as it was before it, where an error would end the transaction.
 *
 * A savepoint that is released keeps the locks taken since; one that is rolled back to gives them up, and with them
 * the settings changed since.
 */
export function withSavepoint<T>(
  open: OpenTransaction<unknown>,
  { isAsked, ready }: Saving,
  work: () => Promise<T>,
): Promise<T> {
  if (!isAsked || open.dialect.transaction.savesBySavepoint !== true) return work()
  return ready === undefined ? atSavepoint(open, work) : atSavepointOnceReady(open, ready, work)
}

async function atSavepointOnceReady<T>(
  open: OpenTransaction<unknown>,
  ready: NonNullable<Saving['ready']>,
  work: () => Promise<T>,
): Promise<T> {
  const drop = await ready()
  return atSavepoint(open, work).catch((error: unknown) => {
    drop(error)
    throw error
  })
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
