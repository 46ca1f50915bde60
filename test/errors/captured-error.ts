/** What an error looked like to whoever caught it, as plain data. */
export interface CapturedError {
  /** The names of its classes, its own first. */
  readonly classes: readonly string[]
  /** Its own properties, those of the language included. */
  readonly own: Readonly<Record<string, unknown>>
  /** What its classes add by getters. */
  readonly inherited?: Readonly<Record<string, unknown>>
}

// Where and when it happened, which is different each time; and what no classification may ever rest on.
const dropped = new Set([
  'stack',
  'length',
  'address',
  'port',
  'host',
  'reason',
  'topologyVersion',
  'connectionGeneration',
])
const links = new Set(['cause', 'originalError'])

/** The error without anything that tells where or when it was made. */
export function captureError(error: object): CapturedError {
  const own: Record<string, unknown> = {}
  for (const name of Object.getOwnPropertyNames(error)) {
    if (!dropped.has(name)) own[name] = plain(Reflect.get(error, name), name)
  }
  const inherited = inheritedBy(error)
  return { classes: classesOf(error), own, ...(Object.keys(inherited).length > 0 && { inherited }) }
}

function classesOf(error: object): readonly string[] {
  const names: string[] = []
  for (let at: object | null = Object.getPrototypeOf(error); at !== null; at = Object.getPrototypeOf(at)) {
    if (at !== Object.prototype) names.push(at.constructor.name)
  }
  return names
}

function inheritedBy(error: object): Readonly<Record<string, unknown>> {
  const found: Record<string, unknown> = {}
  for (
    let at = Object.getPrototypeOf(error);
    at !== null && at !== Object.prototype;
    at = Object.getPrototypeOf(at)
  ) {
    for (const name of Object.getOwnPropertyNames(at)) {
      const isGetter = Object.getOwnPropertyDescriptor(at, name)?.get !== undefined
      if (isGetter && !(name in found) && !dropped.has(name))
        found[name] = plain(Reflect.get(error, name), name)
    }
  }
  return found
}

function plain(value: unknown, name: string): unknown {
  if (typeof value === 'string') return scrub(value)
  if (value === null || ['number', 'boolean', 'undefined'].includes(typeof value)) return value
  if (Array.isArray(value)) return value.map((item) => plain(item, name))
  if (value instanceof Set) return [...value].map((item) => plain(item, name))
  return links.has(name) && typeof value === 'object' ? captureError(value) : undefined
}

/** Takes out names of databases and files, addresses, and numbers of processes, transactions and connections. */
function scrub(text: string): string {
  return text
    .replace(/holdfast_[0-9a-f]{12}/g, 'holdfast_test')
    .replace(/(?<![:/\w])(?:\/[\w.@-]+){2,}/g, '/somewhere')
    .replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:0')
    .replace(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, 'some-uuid')
    .replace(/tuple \(\d+,\d+\)/g, 'tuple (0,0)')
    .replace(
      /(?<what>\b(?:process|transaction|PID|connection|kill query) |opId: |op: conn|connId: )\d+/gi,
      '$<what>0',
    )
    .replace(/\d{10,}/g, '0')
    .replace(/^Executor error during find command :: caused by :: /, '') // MongoDB adds it or not, as it happens
}

/** An error that looks the same to a classifier. */
export function reviveError({ classes, own, inherited }: CapturedError): object {
  const isError = classes.includes('Error')
  const error: object = isError ? new Error('') : {}
  const base: object = isError ? Error.prototype : Object.prototype
  const names = classes.filter((name) => name !== 'Error').toReversed()
  const prototype = names.reduce<object>((above, name) => named(name, above), base)
  Object.setPrototypeOf(error, prototype)
  for (const [name, value] of Object.entries(inherited ?? {}))
    Object.defineProperty(prototype, name, { get: () => value })
  for (const [name, value] of Object.entries(own)) {
    const revived = links.has(name) && isCaptured(value) ? reviveError(value) : value
    Object.defineProperty(error, name, {
      value: revived,
      enumerable: true,
      configurable: true,
      writable: true,
    })
  }
  return error
}

function named(name: string, above: object): object {
  const made: object = Object.create(above)
  const constructor = Object.defineProperty(() => {}, 'name', { value: name })
  return Object.defineProperty(made, 'constructor', { value: constructor })
}

function isCaptured(value: unknown): value is CapturedError {
  return typeof value === 'object' && value !== null && 'classes' in value && 'own' in value
}
