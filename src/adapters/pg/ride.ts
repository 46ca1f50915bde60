import { LockUsageError } from '../../core/errors.ts'
import type { Row } from '../../core/statement.ts'
import {
  asItIs,
  hasOwnTimeout,
  mayCarry,
  noteClose,
  wayOf,
  type OwnQuery,
  type RidingClient,
  type Way,
} from './carry.ts'
import { flush, headRows, type Head } from './head.ts'
import { failQuery, isSubmittable, type QueryArguments } from './query.ts'

type Stage = 'unsent' | 'under way' | 'answered'

/** What goes to a client: at once, or together with the beginning of a transaction that waits for it. */
export class Line {
  readonly #client: RidingClient
  #ride: Ride | undefined

  constructor(client: RidingClient) {
    this.#client = client
  }

  readonly query = (...args: QueryArguments): unknown =>
    this.#ride === undefined ? this.#client.query(...args) : this.#ride.query(args)

  /**
   * The beginning waits for the next statement on the line and goes in one round trip with it, or by itself when none
   * comes in this round of the event loop. Gives the rows of its last statement, their values as text.
   *
   * The server skips the statement when the beginning fails, and none is sent after that until `end`.
   */
  start(beginning: Beginning): Promise<readonly Row[]> {
    const way = wayOf(this.#client)
    if (way === undefined)
      throw new LockUsageError(
        'pipeline',
        'needs the client that is written in JavaScript, not the native one',
      )
    const arrived = (): void => {
      if (this.#ride === own) this.#ride = undefined
    }
    const own = new Ride(this.#client, way, { ...beginning, arrived })
    this.#ride = own
    return own.begun
  }

  /**
   * Lets statements through again, unless the beginning is under way and waits. Says how far it has come: one that waits
   * for nothing is answered first.
   */
  async end(): Promise<Stage> {
    await this.#ride?.untilOver()
    const stage = this.#ride?.leave() ?? 'answered'
    if (stage !== 'under way') this.#ride = undefined
    return stage
  }
}

/** A beginning, and how it goes. */
export interface Beginning {
  readonly head: Head
  /** Called where the answer to the beginning is not that to a statement. */
  readonly goesAlone: () => void
  /** Whether it is to be answered before the statement is. */
  readonly isAnsweredFirst: boolean
  /** Whether it waits for locks. */
  readonly waits: boolean
}

/** One beginning, from its announcement to its answer. */
class Ride {
  readonly begun: Promise<readonly Row[]>
  readonly #client: RidingClient
  readonly #way: Way
  readonly #beginning: Beginning
  readonly #alone: NodeJS.Immediate
  #stage: Stage = 'unsent'
  #arrive: (rows: readonly Row[]) => void = () => {}
  #fail: (error: unknown) => void = () => {}

  /** `arrived` is told when it has begun: after a failure everything is refused, until the end. */
  constructor(client: RidingClient, way: Way, beginning: Beginning & { readonly arrived: () => void }) {
    this.#client = client
    this.#way = way
    this.#beginning = beginning
    this.begun = new Promise((resolve, reject) => {
      this.#arrive = resolve
      this.#fail = reject
    })
    const answered = (): void => {
      this.#stage = 'answered'
    }
    this.begun.then(() => {
      answered()
      beginning.arrived()
    }, answered)
    this.#alone = setImmediate(() => this.#goAlone())
  }

  /** A statement of whoever uses the client. */
  query(args: QueryArguments): unknown {
    const [config] = args
    // refused by the client at once
    if (config == null) return this.#client.query(...args)
    if (this.#stage !== 'unsent') return this.#hold(args)
    const { Query } = this.#way
    const query = isSubmittable(config) || hasOwnTimeout(config) ? undefined : new Query(...args)
    if (query !== undefined && mayCarry(this.#client, query)) return this.#goWith(query)
    this.#goAlone()
    return this.#hold(args)
  }

  /** Until what is under way has been answered, where it is at once. */
  untilOver(): Promise<unknown> | undefined {
    const isSoonOver = this.#stage === 'under way' && !this.#beginning.waits
    return isSoonOver ? this.begun.catch(() => {}) : undefined
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
    const { head, goesAlone } = this.#beginning
    goesAlone()
    const answer = this.#client.query(head.text) as Promise<unknown>
    answer.then((result) => this.#arrive(lastRows(result)), this.#fail)
  }

  #goWith(query: OwnQuery): unknown {
    this.#depart()
    const { stream } = this.#way
    const { head, isAnsweredFirst } = this.#beginning
    const result = query.callback === undefined ? promised(query) : undefined
    const submit = query.submit.bind(query)
    // One Sync for all: whatever fails, the server skips what comes behind it.
    query.requiresPreparation = () => true
    query.submit = (connection) => {
      stream.cork()
      stream.write(head.messages)
      if (isAnsweredFirst) stream.write(flush)
      const refused = submit(connection)
      stream.uncork()
      return refused
    }
    query.ahead = head.texts
    headRows(query, { count: head.texts.length, arrive: this.#arrive, fail: this.#fail })
    this.#client.query(query)
    return result
  }

  /** Not before the beginning has been answered: outside of its transaction a statement would store what it does. */
  #hold([config, ...rest]: QueryArguments): unknown {
    const client = this.#client
    const isForeign = isSubmittable(config)
    const args = [isForeign ? config : asItIs(config), ...rest] as QueryArguments
    const isClosed = isForeign ? noteClose(config) : () => false
    const fail = (error: unknown): unknown => failQuery(args, error as Error, client.connection)
    const sent = this.begun.then(() => (isClosed() ? fail(closedBefore()) : client.query(...args)), fail)
    if (isForeign) return config
    return rest.some((one) => typeof one === 'function') ? undefined : sent
  }
}

function closedBefore(): Error {
  return new Error('the cursor was closed before it was sent')
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
