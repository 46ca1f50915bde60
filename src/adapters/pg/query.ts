type Callback = (error: unknown, result?: unknown) => void

/** As `pg` takes them: a text or an object, values or a callback, a callback. */
export type QueryArguments = readonly [config?: unknown, values?: unknown, callback?: unknown]

/** A query that somebody else has made, such as a cursor. */
export interface Submittable {
  readonly text?: unknown
  submit: (connection: unknown) => unknown
  handleError: (error: unknown, connection: unknown) => void
  handleReadyForQuery?: (connection: unknown) => void
  /** Of a cursor. Does nothing to one that has ended. */
  readonly close?: () => unknown
  /** Of a stream. */
  readonly destroy?: () => unknown
  /** Of a stream of rows. */
  readonly cursor?: unknown
}

export function isSubmittable(config: unknown): config is Submittable {
  return typeof config === 'object' && config !== null && 'submit' in config
}

interface NamedQuery {
  readonly text?: unknown
  readonly name?: unknown
}

/** What `pg` knows of the statements that a connection has prepared: their texts, by name. */
export interface PreparedTexts {
  readonly parsedStatements?: Readonly<Record<string, unknown>>
}

/** One that was prepared before can be sent by its name alone. */
export function textOf(config: unknown, connection: PreparedTexts | undefined): string {
  if (typeof config === 'string') return config
  const { text, name } = (config ?? {}) as NamedQuery
  if (typeof text === 'string') return text
  const known = typeof name === 'string' ? connection?.parsedStatements?.[name] : ''
  return typeof known === 'string' ? known : ''
}

/** The values for its placeholders. */
export function valuesOf([config, values]: QueryArguments): unknown {
  return Array.isArray(values) ? values : (config as { readonly values?: unknown } | undefined)?.values
}

/** The same query, which calls `tell` before its callback. Undefined where it has none. */
export function calledWhenAnswered(
  [config, values, last]: QueryArguments,
  tell: () => void,
): QueryArguments | undefined {
  const told = (callback: Callback): Callback => {
    return (...answer) => {
      tell()
      callback(...answer)
    }
  }
  if (typeof values === 'function') return [config, told(values as Callback)]
  if (typeof last === 'function') return [config, values, told(last as Callback)]
  const callback = callbackIn(config)
  // its own is left as it is: whoever made it may send it again
  return callback && [Object.create(config as object, { callback: { value: told(callback) } }), values]
}

/** Calls `tell` when the query has been answered. */
export function tellWhenAnswered(query: Submittable, tell: () => void): void {
  const { handleError, handleReadyForQuery } = query
  query.handleError = (error, connection) => {
    // after all those who hear of the same message
    queueMicrotask(tell)
    handleError.call(query, error, connection)
  }
  query.handleReadyForQuery = (connection) => {
    queueMicrotask(tell)
    handleReadyForQuery?.call(query, connection)
  }
}

function callbackIn(config: unknown): Callback | undefined {
  if (typeof config !== 'object' || config === null || !('callback' in config)) return undefined
  return typeof config.callback === 'function' ? (config.callback as Callback) : undefined
}

/** Tells whoever sent a query of its error, in the way in which they would hear of it. */
export function failQuery(
  [config, values, last]: QueryArguments,
  error: Error,
  connection: unknown,
): unknown {
  const given = [values, last].find((one) => typeof one === 'function') as Callback | undefined
  const callback = given ?? callbackIn(config)
  if (isSubmittable(config)) {
    process.nextTick(() => config.handleError(error, connection))
    return config
  }
  if (callback === undefined) return Promise.reject(error)
  process.nextTick(callback, error)
  return undefined
}
