import { dirname, isAbsolute, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Where in a program something was called. */
export interface CallPlace {
  /** As it stands in stack traces: relative to the working directory where it lies below it. */
  readonly file: string
  readonly line: number
  readonly column: number
}

/** Between the caller and us there may be a whole ORM. */
const deepest = 100

/**
 * The innermost call on the stack that is neither ours, nor Node's, nor a package's. Undefined where there is none, as
 * when nobody waits for the call that has led here: behind an `await` only those who wait are on the stack.
 */
export function callPlace(): CallPlace | undefined {
  const before = Error.stackTraceLimit
  Error.stackTraceLimit = deepest
  const { stack } = new Error('where')
  Error.stackTraceLimit = before
  // a program may make something else of stacks
  return placeIn(String(stack), ownFolder)
}

/** The folder of this package's code, in which all files are two folders deep. As CommonJS a file knows its path only. */
const ownFolder = join(dirname(pathOf(import.meta.url) ?? ''), '..', sep)

const frame = /^\s+at (?:.* \()?(?<file>(?:file:\/\/|[A-Za-z]:\\|\/)[^()]*?):(?<line>\d+):(?<column>\d+)\)?$/

/** The same in a stack that is given. */
export function placeIn(stack: string, own: string): CallPlace | undefined {
  for (const text of stack.split('\n')) {
    const { file: address, line, column } = frame.exec(text)?.groups ?? {}
    const file = address === undefined ? undefined : pathOf(address)
    if (file === undefined || file.startsWith(own) || isOfPackage(file)) continue
    return { file: shorter(file), line: Number(line), column: Number(column) }
  }
  return undefined
}

function pathOf(address: string): string | undefined {
  if (!address.startsWith('file:')) return address
  try {
    return fileURLToPath(address)
  } catch {
    return undefined
  }
}

function isOfPackage(file: string): boolean {
  return file.includes(`${sep}node_modules${sep}`)
}

function shorter(file: string): string {
  const below = relative(process.cwd(), file)
  return below === '' || below.startsWith('..') || isAbsolute(below) ? file : below
}

export function placeText({ file, line }: CallPlace): string {
  return `${file}:${line}`
}
