import { LockUsageError } from '../../core/errors.ts'

type Libraries = Map<string, object>

/** Shared by all copies of this module in the process, which may be several: the file is one. */
const place = Symbol.for('holdfast.libraries-of-files')

/**
 * Refuses a file that was opened through another copy of SQLite before.
 *
 * The operating system gives the locks of a file to the process, and not to whoever has asked in it. A copy of SQLite
 * knows that of its own handles only: two copies in one process both get the write lock, and closing a handle of one
 * gives up what the other holds. https://www.sqlite.org/howtocorrupt.html#multiple_copies_of_sqlite_linked_into_the_same_application
 */
export function onlyLibrary(file: string, handle: object): void {
  const library = libraryOf(handle)
  if (library === undefined) return
  const shared = globalThis as { [place]?: Libraries }
  const libraries = (shared[place] ??= new Map())
  const first = libraries.get(file) ?? library
  if (first !== library) throw twoLibraries(file)
  libraries.set(file, library)
}

/** Each has a class of its own, on which other classes may build. Undefined for an object that is only like a handle. */
function libraryOf(handle: object): object | undefined {
  let kind = Reflect.getPrototypeOf(handle)
  while (kind !== null && !Object.hasOwn(kind, 'prepare')) kind = Reflect.getPrototypeOf(kind)
  return kind ?? undefined
}

function twoLibraries(file: string): LockUsageError {
  return new LockUsageError(
    'source',
    `${file} is open in this process through another SQLite library, and two of them do not exclude each other: use one for the file`,
  )
}
