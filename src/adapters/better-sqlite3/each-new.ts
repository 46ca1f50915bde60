import { LockUsageError } from '../../core/errors.ts'

/** What tells whether a handle can be a session's own. */
interface OwnHandle {
  readonly open?: boolean
  readonly memory?: boolean
}

/**
 * The function, as far as it opens a handle each time: the one that it gives is closed with its session.
 *
 * A handle that is refused is left as it is. It may be the application's own, and a database in memory is gone with it.
 */
export function eachNew<Handle extends OwnHandle>(open: () => Handle): () => Handle {
  const given = new WeakSet<Handle>()
  return () => {
    const handle = open()
    if (handle.open === false) throw notNew('is closed')
    if (given.has(handle)) throw notNew('it gave before')
    if (handle.memory === true)
      throw new LockUsageError('source', 'an in-memory database has one handle: pass it, not a function')
    given.add(handle)
    return handle
  }
}

function notNew(what: string): LockUsageError {
  return new LockUsageError(
    'source',
    `the function gave a handle that ${what}: it must open a new one each time. For one handle write createLocks(db)`,
  )
}
