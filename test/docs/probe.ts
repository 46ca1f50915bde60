import { format, inspect, isDeepStrictEqual } from 'node:util'

import type { Mark } from './marks.ts'

/** What is not as the page says. `line` counts within the block. */
export interface Failure {
  readonly line: number
  readonly what: string
  readonly expected?: string
  readonly received?: string
}

/** What a program asks at each of its marks. Nothing is thrown into the program: what is wrong is told at the end. */
export interface Probe {
  readonly equals: <T>(mark: number, value: T, expected: () => unknown) => T
  readonly log: (mark: number, ...values: readonly unknown[]) => void
  readonly throws: (mark: number, work: () => Promise<unknown>) => Promise<void>
  /** What was wrong, and the marks that were never reached. */
  readonly failures: () => readonly Failure[]
}

export function createProbe(marks: readonly Mark[]): Probe {
  const failures: Failure[] = []
  const reached = new Set<number>()
  const at = (index: number): Mark => {
    const mark = marks[index]
    if (mark === undefined) throw new Error(`there is no mark ${index}`)
    reached.add(index)
    return mark
  }
  return {
    equals: (index, value, expected) => {
      const { line } = at(index)
      const [received, wanted] = [plain(value), plain(expected())]
      if (!isDeepStrictEqual(received, wanted)) failures.push(difference(line, show(wanted), show(received)))
      return value
    },
    log: (index, ...values) => {
      console.log(...values)
      const failure = misprint(at(index), format(...values))
      if (failure !== undefined) failures.push(failure)
    },
    throws: async (index, work) => {
      const failure = await misthrown(at(index), work)
      if (failure !== undefined) failures.push(failure)
    },
    failures: () => [
      ...failures,
      ...marks.flatMap(({ kind, line }, index) =>
        kind === 'refused' || reached.has(index) ? [] : [{ line, what: 'the program never came here' }],
      ),
    ],
  }
}

function misprint(mark: Mark, printed: string): Failure | undefined {
  if (mark.kind !== 'prints') return undefined
  const lines = printed.split('\n')
  const wanted = mark.lines.slice(0, lines.length).join('\n')
  return wanted === printed
    ? undefined
    : { ...difference(mark.line, wanted, printed), what: 'it prints something else' }
}

async function misthrown(mark: Mark, work: () => Promise<unknown>): Promise<Failure | undefined> {
  if (mark.kind !== 'throws') return undefined
  const { line, name, part } = mark
  const expected = part === '' ? name : `${name}: ...${part}...`
  try {
    await work()
  } catch (error) {
    const received = describeError(error)
    if (nameOf(error) !== name) return { line, what: 'it throws another error', expected, received }
    if (messageOf(error).includes(part)) return undefined
    return { line, what: 'the error says something else', expected, received }
  }
  return { line, what: 'it throws nothing', expected }
}

export function describeError(error: unknown): string {
  return error instanceof Error ? `${nameOf(error)}: ${messageOf(error)}` : show(error)
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.constructor.name : typeof error
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function difference(line: number, expected: string, received: string): Failure {
  return { line, what: 'the value is another one', expected, received }
}

function show(value: unknown): string {
  return inspect(value, { depth: 8, breakLength: 100 })
}

/** Rows are instances of drivers' classes, and lists carry a receipt: a page shows what is in them. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null || isWhole(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, plain(field)]))
}

function isWhole(value: object): boolean {
  return (
    [Date, Error, Map, Set, RegExp, Promise].some((kind) => value instanceof kind) ||
    ArrayBuffer.isView(value)
  )
}
