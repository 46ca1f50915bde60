import { Flight } from '../flight.ts'
import { Cursors } from './cursors.ts'
import {
  calledWhenAnswered,
  failQuery,
  isSubmittable,
  tellWhenAnswered,
  textOf,
  valuesOf,
  type PreparedTexts,
  type QueryArguments,
  type Submittable,
} from './query.ts'
import { isSavepointTag, PgSavepoints } from './savepoints.ts'
import type { Spelling } from '../sql-text.ts'
import type { SavepointTag } from '../savepoint-steps.ts'
import { fateBy, rollbackOfAll } from '../statement-fate.ts'
import { TransactionBody, type BodyTraits } from '../transaction-body.ts'
import { checkedView, refusedEnding, viewOf } from '../transaction-view.ts'

/** Where `pg` tells of every message of the server; its native client does not. */
export interface PgMessages extends PreparedTexts {
  on(event: 'errorMessage', listener: (error: Error) => void): unknown
  on(event: 'commandComplete', listener: (message: { readonly text: string }) => void): unknown
  on(event: 'readyForQuery', listener: (message: { readonly status: string }) => void): unknown
  off(event: 'errorMessage', listener: (error: Error) => void): unknown
  off(event: 'commandComplete', listener: (message: { readonly text: string }) => void): unknown
  off(event: 'readyForQuery', listener: (message: { readonly status: string }) => void): unknown
}

/** What is used of a client to send what the work sends. */
export interface BodyClient {
  readonly connection?: PgMessages
  query(...args: QueryArguments): unknown
}

export const spelling: Spelling = {
  quotes: `'"`,
  backslashes: 'after E',
  hasDollarQuotes: true,
  endsLinesAtReturn: true,
  nestsComments: true,
  nests: { of: /^create (?:or replace )?(?:function|procedure) /, from: /^begin atomic$/ },
}

/** After an error the server refuses everything until the end, or until a savepoint. */
export const bodyTraits: BodyTraits = {
  fateOf: fateBy({
    spelling,
    ends: `commit|${rollbackOfAll}|begin|start transaction|end|abort|prepare transaction(?! (?:as\\b|\\())`,
  }),
  isEndedByErrors: false,
  givesUpOnReturn: spelling,
  isConsequence: (error): error is Error =>
    error instanceof Error && 'code' in error && error.code === '25P02',
}

/** The statements of the work on one client, as the client lines them up and the server answers them. */
export class PgBody<Client extends BodyClient> {
  readonly state: TransactionBody = new TransactionBody(bodyTraits)
  /** What the work is given. */
  readonly tx: Client
  readonly #client: Client
  readonly #line: Pick<BodyClient, 'query'>
  #savepoints: PgSavepoints | undefined
  #cursors: Cursors | undefined
  #isStopped = false
  readonly #flight = new Flight()
  /** The transactions that the server has begun and ended since ours began, with ours. */
  #begun = 0
  #ended = 0
  #isBeginning = false

  /** `line`: what the statements of the work go through to the client. */
  constructor(client: Client, line: Pick<BodyClient, 'query'>) {
    this.#client = client
    this.#line = line
    this.tx = viewOf(client, (name, value) => {
      if (name === 'query') return this.#query
      return name === 'connection' && value !== undefined
        ? checkedView(value as object, this.#mustBeOpen)
        : refusedEnding(name)
    })
    const { connection } = client
    connection?.on('errorMessage', this.#failed)
    connection?.on('commandComplete', this.#completed)
    connection?.on('readyForQuery', this.#ready)
  }

  begin(): void {
    this.state.begin()
    this.#begun = 0
    this.#ended = 0
    this.#isBeginning = false
  }

  /** What the server answers next is no answer to a statement, though one may wait behind it. */
  readonly beginsAlone = (): void => {
    this.#isBeginning = true
  }

  untilIdle(): Promise<void> | undefined {
    this.state.returned()
    this.#cursors?.returned()
    return this.#flight.untilNone()
  }

  /** What the work has sent is still answered, and decides about COMMIT. */
  close(): void {
    this.state.close()
    this.#closeCursors()
  }

  giveUp(): void {
    this.state.giveUp()
    this.#closeCursors()
  }

  /** The end of the transaction would wait for ever behind what the work has left open. */
  #closeCursors(): void {
    this.#cursors?.closeAll()
    this.#cursors = undefined
  }

  /** Throws unless what the server has answered to COMMIT is the end of our own transaction. */
  committed(tag: string | undefined): void {
    // the server answers COMMIT of a failed transaction with the tag ROLLBACK, and with no error
    if (tag === 'ROLLBACK' || this.#begun > 1 || this.#ended > 1) this.state.told(false)
    const { end } = this.state
    this.state.over()
    if (end !== undefined) throw end
  }

  /** The client is given back: it belongs to somebody else. */
  get isStopped(): boolean {
    return this.#isStopped
  }

  stop(): void {
    this.#isStopped = true
    const { connection } = this.#client
    connection?.off('errorMessage', this.#failed)
    connection?.off('commandComplete', this.#completed)
    connection?.off('readyForQuery', this.#ready)
    this.state.over()
  }

  readonly #query = (...args: QueryArguments): unknown => {
    const [config] = args
    const text = textOf(config, this.#client.connection)
    const values = this.state.ear === undefined ? undefined : valuesOf(args)
    const refusal = this.state.closed ?? this.state.refusal(text, values)
    if (refusal !== undefined) return failQuery(args, refusal, this.#client.connection)
    this.state.announce(text)
    if (!isSubmittable(config)) return this.#send(args)
    if (this.#isOwnQuery(config)) {
      this.#flight.start()
      tellWhenAnswered(config, onlyOnce(this.#flight.land))
    } else {
      this.#cursors ??= new Cursors()
      if (this.state.hasReturned) this.#cursors.returned()
      this.#cursors.add(config)
    }
    return this.#line.query(...args)
  }

  /** One of `pg`'s own ends by itself; of another kind nobody knows. The native client's is not told of messages. */
  #isOwnQuery(query: Submittable): boolean {
    const { Query } = this.#client.constructor as { readonly Query?: new () => object }
    return this.#client.connection !== undefined && Query !== undefined && query instanceof Query
  }

  #send(args: QueryArguments): unknown {
    const { land } = this.#flight
    const calling = calledWhenAnswered(args, land)
    if (calling !== undefined) {
      this.#flight.start()
      return this.#line.query(...calling)
    }
    const answer = this.#line.query(...args)
    if (answer instanceof Promise) {
      this.#flight.start()
      answer.then(land, land)
    }
    return answer
  }

  readonly #mustBeOpen = (): void => {
    const { closed } = this.state
    if (closed !== undefined) throw closed
  }

  /** While nothing of the work is under way, it is a statement of our own that has failed. */
  readonly #failed = (error: Error): void => {
    this.state.isCrowded = this.#flight.isCrowded
    this.state.failed(error, this.#flight.isBusy || this.#cursors !== undefined)
  }

  readonly #completed = ({ text }: { readonly text: string }): void => {
    if (text === 'BEGIN' || text === 'START TRANSACTION') this.#begun += 1
    else if (text === 'COMMIT') this.#ended += 1
    else {
      if (isSavepointTag(text) && this.state.isOpen) this.#savepoint(text)
      return
    }
    if (this.state.isOpen && (this.#begun > 1 || this.#ended > 0)) this.state.told(false)
  }

  #savepoint(tag: SavepointTag): void {
    this.#savepoints ??= new PgSavepoints(this.#client, spelling)
    this.#savepoints.completed(tag, this.state.savepoints)
  }

  readonly #ready = ({ status }: { readonly status: string }): void => {
    const hasBegun = this.#isBeginning && status === 'T'
    this.#isBeginning = false
    if (hasBegun) return
    if (status === 'T') this.state.succeeded()
    // no transaction; ours is told by the tag of its COMMIT
    else if (status === 'I' && this.state.isOpen && this.#begun > 0) this.state.told(false)
  }
}

/** A query that took too long is answered twice: by the driver, and later by the server. */
function onlyOnce(tell: () => void): () => void {
  let isTold = false
  return () => {
    if (!isTold) tell()
    isTold = true
  }
}
