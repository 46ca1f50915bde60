import type { ErrorLike } from './classification.ts'

/** One error of those that a thrown value wraps, and how deep it lay. */
export interface Layer {
  readonly error: ErrorLike
  readonly depth: number
}

/**
 * Where libraries keep the error that they wrap: the language itself, TypeORM, mssql, Sequelize, Objection,
 * Prisma (`meta`, and in it `driverAdapterError`), and `await using`, whose `suppressed` came before its `error`.
 */
const links = [
  'cause',
  'driverError',
  'originalError',
  'original',
  'parent',
  'nativeError',
  'meta',
  'driverAdapterError',
  'suppressed',
  'error',
]

/** Where they keep several: AggregateError, and mssql for all but the last error of a batch. */
const lists = ['errors', 'precedingErrors']

const MOST_LAYERS = 64
const DEEPEST = 12

/** The thrown value and every error that it wraps, outermost first. Ends on cycles and on endless chains. */
export function unwrap(thrown: unknown): readonly Layer[] {
  const layers: Layer[] = []
  const seen = new Set<unknown>()
  const add = (value: unknown, depth: number): void => {
    if (!isErrorLike(value) || seen.has(value) || layers.length >= MOST_LAYERS || depth > DEEPEST) return
    seen.add(value)
    layers.push({ error: value, depth })
  }
  add(thrown, 0)
  // grows while it is read: breadth first
  for (const { error, depth } of layers) {
    for (const link of links)
      add(
        quietly(() => error[link]),
        depth + 1,
      )
    for (const list of lists) for (const item of itemsOf(error, list)) add(item, depth + 1)
  }
  return layers
}

function isErrorLike(value: unknown): value is ErrorLike {
  return typeof value === 'object' && value !== null
}

function itemsOf(error: ErrorLike, list: string): readonly unknown[] {
  const items = quietly((): readonly unknown[] => {
    const value: unknown = error[list]
    return Array.isArray(value) ? (value.slice(0, MOST_LAYERS) as readonly unknown[]) : []
  })
  return items ?? []
}

/** What `read` gives, or `undefined` when it throws: a thrown value may have getters and proxies of any kind. */
export function quietly<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
