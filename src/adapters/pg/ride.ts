import { LockUsageError } from '../../core/errors.ts'
import type { Row } from '../../core/statement.ts'
import { headRows, headMessages, type HeadReader } from './head.ts'
import { failQuery, isSubmittable, type QueryArguments } from './query.ts'
import { spelling } from './body.ts'
import { statementsOf } from '../sql-text.ts'
import { isPlain } from '../statement-fate.ts'

/** What is used of a client to let the beginning of a transaction travel with the first statement. */
export interface RidingClient {
  readonly connection?: object
  query(...args: QueryArguments): unknown
}

interface PgStream {
  cork(): void
  uncork(): void
  write(bytes: Uint8Array): unknown
}

type Callback = (error: Error | null, result?: unknown) => void

/** A query of `pg`'s own class. */
interface OwnQuery extends HeadReader {
  readonly text?: unknown
  readonly name?: unknown
  readonly rows?: unknown
  callback?: Callback
  submit(connection: unknown): Error | null
  requiresPreparation(): boolean
}

type OwnQueryClass = new (...args: QueryArguments) => OwnQuery

/** Lets the beginning of a transaction travel with the statement behind it. */
export interface Rider {
  /**
   * The beginning, one text for each statement: it waits for the next statement on the client and goes in one round
   * trip with it, or by itself when none comes in this round of the event loop. Gives the rows of its last statement,
   * their values as text.
   *
   * The server skips the statement when the beginning fails, and none is sent after that until `end`. `goesAlone` is
   * called where the answer to the beginning is not that to a statement.
   */
  readonly start: (texts: readonly string[], goesAlone?: () => void) => Promise<readonly Row[]>
  /** Lets statements through again, unless the beginning is under way. Says how far it has come. */
  readonly end: () => Stage
}

type Stage = 'unsent' | 'under way' | 'answered'

const riders = new WeakMap<RidingClient, Rider>()

export function riderOf(client: RidingClient): Rider {
  const rider = riders.get(client) ?? createRider(client)
  riders.set(client, rider)
  return rider
}

function createRider(client: RidingClient): Rider {
  const { Query } = client.constructor as { readonly Query?: OwnQueryClass }
  const { stream } = (client.connection ?? {}) as { readonly stream?: PgStream }
  if (Query === undefined || stream === undefined)
    throw new LockUsageError('pipeline', 'needs the client that is written in JavaScript, not the native one')
  const send = client.query.bind(client)
  let ride: Ride | undefined
  // Once for the life of the client: to put the method back each time would make every use of the client slower.
  client.query = (...args) => (ride === undefined ? send(...args) : ride.query(args))
  return {
    start: (texts, goesAlone = () => {}) => {
      const own = new Ride({ client, stream, Query, send, goesAlone }, texts)
      ride = own
      const arrived = (): void => {
        if (ride === own) ride = undefined
      }
      // after a failure everything is refused, until the end
      own.begun.then(arrived, () => {})
      return own.begun
    },
    end: () => {
      const stage = ride?.leave() ?? 'answered'
      if (stage !== 'under way') ride = undefined
      return stage
    },
  }
}

interface Way {
  readonly client: RidingClient
  readonly stream: PgStream
  readonly Query: OwnQueryClass
  readonly send: (...args: QueryArguments) => unknown
  readonly goesAlone: () => void
}

/** One beginning, from its announcement to its answer. */
class Ride {
  readonly begun: Promise<readonly Row[]>
  readonly #way: Way
  readonly #texts: readonly string[]
  readonly #alone: NodeJS.Immediate
  #stage: Stage = 'unsent'
  #arrive: (rows: readonly Row[]) => void = () => {}
  #fail: (error: unknown) => void = () => {}

  constructor(way: Way, texts: readonly string[]) {
    this.#way = way
    this.#texts = texts
    this.begun = new Promise((resolve, reject) => {
      this.#arrive = resolve
      this.#fail = reject
    })
    this.begun.then(this.#answered, this.#answered)
    this.#alone = setImmediate(() => this.#goAlone())
  }

  readonly #answered = (): void => {
    this.#stage = 'answered'
  }

  /** A statement of whoever uses the client. */
  query(args: QueryArguments): unknown {
    if (this.#stage !== 'unsent') return this.#hold(args)
    const { Query } = this.#way
    const [config] = args
    const query = isSubmittable(config) || hasOwnTimeout(config) ? undefined : new Query(...args)
    if (query !== undefined && mayCarry(query)) return this.#goWith(query)
    this.#goAlone()
    return this.#hold(args)
  }

  leave(): Stage {
    const stage = this.#stage
    if (stage === 'unsent') {
      clearImmediate(this.#alone)
      this.#fail(new Error('the transaction ended before it began'))
    }
    return stage
  }

  #depart(): void {
    clearImmediate(this.#alone)
    this.#stage = 'under way'
  }

  #goAlone(): void {
    this.#depart()
    this.#way.goesAlone()
    const answer = this.#way.send(this.#texts.join('; ')) as Promise<unknown>
    answer.then((result) => this.#arrive(lastRows(result)), this.#fail)
  }

  #goWith(query: OwnQuery): unknown {
    this.#depart()
    const { stream, send } = this.#way
    const result = query.callback === undefined ? promised(query) : undefined
    const submit = query.submit.bind(query)
    // One Sync for all: whatever fails, the server skips what comes behind it.
    query.requiresPreparation = () => true
    query.submit = (connection) => {
      stream.cork()
      stream.write(headMessages(this.#texts))
      const refused = submit(connection)
      stream.uncork()
      return refused
    }
    headRows(query, { count: this.#texts.length, arrive: this.#arrive, fail: this.#fail })
    send(query)
    return result
  }

  /** Not before the beginning has been answered: outside of its transaction a statement would store what it does. */
  #hold(args: QueryArguments): unknown {
    const { client, send } = this.#way
    const [config, values, last] = args
    const sent = this.begun.then(
      () => send(...args),
      (error: unknown) => failQuery(args, error as Error, client.connection),
    )
    if (isSubmittable(config)) return config
    return typeof values === 'function' || typeof last === 'function' ? undefined : sent
  }
}

function hasOwnTimeout(config: unknown): boolean {
  return typeof config === 'object' && config !== null && 'query_timeout' in config
}

/** While it takes rows, the server overlooks the end of the message behind which it would go on. */
function copies(text: string): boolean {
  return !isPlain(text, true) && /^copy\b/.test(statementsOf(text, spelling, 1)[0] ?? '')
}

/**
 * A text of several statements has only the simple protocol, which knows no skipping. A name has to be parsed first,
 * and of which statement the server says so is not to be told.
 */
function mayCarry(query: OwnQuery): boolean {
  const { text, name, rows } = query
  if (typeof text !== 'string' || text === '' || Boolean(name) || Boolean(rows)) return false
  if (copies(text)) return false
  return query.requiresPreparation() || !text.trimEnd().slice(0, -1).includes(';')
}

/** As `pg` makes it: with a stack that leads to whoever sent the query. */
function promised(query: OwnQuery): Promise<unknown> {
  const answer = new Promise((resolve, reject) => {
    query.callback = (error, result) => (error === null ? resolve(result) : reject(error))
  })
  return answer.catch((error: unknown) => {
    if (error instanceof Error) Error.captureStackTrace(error)
    throw error
  })
}

function lastRows(result: unknown): readonly Row[] {
  const last = (Array.isArray(result) ? result.at(-1) : result) as
    | { readonly rows?: readonly Row[] }
    | undefined
  return last?.rows ?? []
}
