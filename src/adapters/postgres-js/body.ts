import { readFile } from 'node:fs/promises'

import { OpenReads } from '../open-reads.ts'
import { Wire } from '../orm/wire.ts'
import { bodyTraits } from '../pg/body.ts'
import { TransactionBody } from '../transaction-body.ts'
import { leftOpen } from '../transaction-end.ts'
import type { SavepointSteps } from '../savepoint-steps.ts'
import { Copies } from './copies.ts'
import type { PostgresJsQuery } from './driver.ts'
import type { Pinned } from './pinned.ts'
import { textOf } from './text.ts'

/** The queries of the work on one connection. */
export class PostgresJsBody {
  readonly state: TransactionBody = new TransactionBody(bodyTraits)
  /** What is under way. */
  wire: Wire = new Wire()
  readonly #pinned: Pinned
  /** What a cursor is told to be closed with. */
  readonly #close: object
  readonly #reads = new OpenReads()
  readonly #copies = new Copies()

  constructor(pinned: Pinned, close: object) {
    this.#pinned = pinned
    this.#close = close
  }

  begin(): void {
    this.state.begin()
    this.#reads.begin()
  }

  /** What the work has sent is still answered, and decides about COMMIT. */
  close(): void {
    if (this.#copies.endAll()) this.state.failed(leftOpen(), true)
    this.state.close()
  }

  giveUp(): void {
    // ROLLBACK would wait for ever behind what the work has left open
    this.#reads.returned()
    this.#copies.endAll()
    this.state.giveUp()
  }

  returned(): void {
    this.state.returned()
    this.#reads.returned()
  }

  /** The same query, which is sent here when somebody asks for its answer. A text in a file is read before. */
  take(query: PostgresJsQuery, file?: string | URL): PostgresJsQuery {
    query.handler = () => {
      if (file === undefined) this.#send(query)
      else this.wire.follow(() => this.#read(query, file)).catch(query.reject)
    }
    return query
  }

  async #read(query: PostgresJsQuery, file: string | URL): Promise<void> {
    void Object.assign(query, { strings: [await readFile(file, 'utf8')] })
    this.#send(query)
  }

  #send(query: PostgresJsQuery): void {
    const values: unknown[] = []
    const text = textOf(query, values)
    const refusal = this.state.closed ?? this.state.refusal(text, values)
    if (refusal !== undefined) return query.reject(refusal)
    // it was answered when it was cancelled, before anybody has asked for it
    if (query.cancelled === true) return
    this.#watch(query, text)
    this.#pinned.send(query)
  }

  /** Both are called by the connection. Those of a cursor are set anew for each of its pieces. */
  #watch(query: PostgresJsQuery, text: string): void {
    const steps = this.state.announce(text)
    let isAnswered = false
    const answer = promised()
    void this.wire.follow(() => answer.promise)
    const answered = (): void => {
      isAnswered = true
      this.#pinned.answered(query)
      this.#reads.goesOn(query)
    }
    follow(query, 'resolve', (resolve) => (value) => {
      if (!isAnswered) this.#succeeded(value, steps)
      answered()
      answer.resolve()
      resolve(value)
    })
    follow(query, 'reject', (reject) => (error) => {
      this.state.failedText = text
      // of a copy that has begun, only this tells that it has failed
      this.state.failed(error, true, isAnswered ? undefined : steps)
      if (isAnswered) this.#copies.fail(error)
      answered()
      answer.reject(error)
      reject(error)
    })
    if (query.cursorFn !== undefined)
      follow(query, 'cursorFn', (take) => (rows) => this.#piece(query, take?.(rows)))
  }

  /** Once the work has returned, a cursor that nobody reads any more is closed, and its transaction is no success. */
  #piece(query: PostgresJsQuery, taken: unknown): Promise<unknown> {
    return new Promise((resolve) => {
      // postgres.js would go on to write to a connection that has ended, and that would end the process
      const unlessOver = (go: () => void): void => {
        if (!this.#pinned.isOver) go()
      }
      this.#reads.rests(query, () => {
        this.state.failed(leftOpen(), true)
        unlessOver(() => resolve(this.#close))
      })
      Promise.resolve(taken).then(
        (answer) => {
          this.#reads.goesOn(query)
          unlessOver(() => resolve(answer))
        },
        () => unlessOver(() => resolve(taken)),
      )
    })
  }

  #succeeded(answer: unknown, steps: SavepointSteps | undefined): void {
    this.#copies.add(answer)
    const commands = commandsOf(answer)
    if (commands.some(isEnd) || commands.filter(isRollback).length > (steps?.filter(isReturn).length ?? 0))
      this.state.told(false)
    else this.state.succeeded(steps)
  }
}

interface Promised {
  readonly promise: Promise<void>
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

function promised(): Promised {
  let settle: Omit<Promised, 'promise'> | undefined
  const promise = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject }
  })
  return { promise, ...(settle as unknown as Omit<Promised, 'promise'>) }
}

/** Puts `around` on a function of the query, whoever sets it to what. */
function follow<Name extends 'resolve' | 'reject' | 'cursorFn'>(
  query: PostgresJsQuery,
  name: Name,
  around: (own: PostgresJsQuery[Name]) => PostgresJsQuery[Name],
): void {
  let followed = around(query[name])
  void Object.defineProperty(query, name, {
    get: () => followed,
    set: (own: PostgresJsQuery[Name]) => {
      followed = around(own)
    },
  })
}

/** What the server says that it has done, statement by statement. */
function commandsOf(answer: unknown): readonly unknown[] {
  if (!Array.isArray(answer)) return []
  const results = 'command' in answer ? [answer] : answer
  return results.map((result: { readonly command?: unknown } | undefined) => result?.command)
}

const isEnd = (command: unknown): boolean =>
  command === 'COMMIT' ||
  command === 'BEGIN' ||
  command === 'START TRANSACTION' ||
  command === 'PREPARE TRANSACTION'

const isRollback = (command: unknown): boolean => command === 'ROLLBACK'

const isReturn = (step: SavepointSteps[number]): boolean => step?.tag === 'ROLLBACK'
