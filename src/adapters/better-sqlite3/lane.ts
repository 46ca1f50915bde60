import { onlyLibrary } from './library.ts'

/** What tells which file a handle has open. */
interface Handle {
  pragma(source: string): unknown
  close(): unknown
}

let unnamed = 0
const namesOfUnnamed = new WeakMap<object, string>()

/**
 * Tells the name of the database, which is the file's full path. One that lives in memory, or in a file without a
 * name, is a database of its own for each handle.
 *
 * A function is called once for that, the first time that the name is asked for.
 */
export function laneOf(source: Handle | (() => Handle)): () => string {
  let learnt: string | undefined
  return () => (learnt ??= typeof source === 'function' ? learn(source) : nameOf(source))
}

function learn(open: () => Handle): string {
  const handle = open()
  try {
    return nameOf(handle)
  } finally {
    handle.close()
  }
}

function nameOf(handle: Handle): string {
  const databases = handle.pragma('database_list') as readonly {
    readonly name: string
    readonly file: string
  }[]
  const file = databases.find(({ name }) => name === 'main')?.file ?? ''
  if (file !== '') {
    onlyLibrary(file, handle)
    return file
  }
  const name = namesOfUnnamed.get(handle) ?? `unnamed database ${(unnamed += 1)}`
  namesOfUnnamed.set(handle, name)
  return name
}
