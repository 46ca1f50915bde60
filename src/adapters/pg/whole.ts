import { LockUsageError } from '../../core/errors.ts'
import type { Row } from '../../core/statement.ts'
import { mayCarry, type OwnQuery, type RidingClient, type Way } from './carry.ts'
import { flush, runMessages } from './head.ts'

/** The texts of a transaction that is sent at once, from BEGIN to COMMIT. */
export interface WholeTexts {
  /** From BEGIN on, none of them waits. The rows of the last one are told at once. */
  readonly head: readonly string[]
  readonly locks: readonly string[]
}

/** What is told of it, in this order. */
export interface WholeEar {
  readonly begun: (rows: readonly Row[]) => void
  readonly locked: () => void
  /** Each statement, in its order. */
  readonly answered: () => void
  /** The last that is told: what the statements gave, and the tag of the answer to COMMIT. */
  readonly ended: (results: readonly unknown[], tag: string | undefined) => void
  /** In the place of what would have followed. */
  readonly failed: (error: Error) => void
}

interface Message {
  readonly text?: string
}

/** Sync, which ends it: whatever fails, the server skips what comes behind it up to here. */
const commitAndSync = Buffer.concat([runMessages(['COMMIT']), Uint8Array.of(0x53, 0, 0, 0, 4)])

/** The statements as `pg` would send each of them, or undefined where one of them cannot be sent so. */
export function queriesOf(
  client: RidingClient,
  { Query }: Way,
  statements: readonly (readonly [string, readonly unknown[]])[],
): readonly OwnQuery[] | undefined {
  // an application may have parsers of its own, which the client knows
  const queries = statements.map(([text, values]) => new Query({ text, values: [...values], types: client }))
  return queries.every((query) => mayCarry(client, query)) ? queries : undefined
}

/** A transaction as one query: the client lines it up like any other, and the server answers it part by part. */
export class WholeQuery {
  /** A client whose connection has ended does not send it, and a server that had ended it does not read it. */
  mayHaveRun = false
  readonly #bytes: readonly Uint8Array[]
  readonly #queries: readonly OwnQuery[]
  readonly #ear: WholeEar
  /** How many parts come before the locks, and before the statements. */
  readonly #locksAt: number
  readonly #queriesAt: number
  #done = 0
  #columns: readonly string[] = []
  readonly #rows: Row[] = []
  #tag: string | undefined

  /** Throws where a value cannot be sent: nothing has been by then. */
  constructor(
    client: RidingClient,
    { head, locks }: WholeTexts,
    { queries, ear }: { readonly queries: readonly OwnQuery[]; readonly ear: WholeEar },
  ) {
    this.#queries = queries
    this.#ear = ear
    this.#locksAt = head.length
    this.#queriesAt = head.length + locks.length
    this.#bytes = [
      runMessages(head, true),
      // the rows of the head are to be known while the locks are waited for
      flush,
      runMessages(locks),
      ...queries.flatMap((query) => bytesOf(query, client)),
      commitAndSync,
    ]
  }

  submit({ stream }: { readonly stream: Way['stream'] }): null {
    this.mayHaveRun = true
    stream.cork()
    for (const bytes of this.#bytes) stream.write(bytes)
    stream.uncork()
    return null
  }

  get #query(): OwnQuery | undefined {
    return this.#queries[this.#done - this.#queriesAt]
  }

  handleRowDescription(message: { readonly fields: readonly { readonly name: string }[] }): void {
    if (this.#done < this.#locksAt) this.#columns = message.fields.map(({ name }) => name)
    else this.#query?.handleRowDescription(message)
  }

  handleDataRow(message: { readonly fields: readonly unknown[] }): void {
    if (this.#done === this.#locksAt - 1)
      this.#rows.push(
        Object.fromEntries(this.#columns.map((column, index) => [column, message.fields[index]])),
      )
    else this.#query?.handleDataRow(message)
  }

  handleCommandComplete(message: Message, connection: unknown): void {
    this.#query?.handleCommandComplete(message, connection)
    this.#tag = message.text
    this.#next()
  }

  /** Of a text that is nothing but a comment. */
  handleEmptyQuery(): void {
    this.#next()
  }

  #next(): void {
    const isStatement = this.#query !== undefined
    this.#done += 1
    if (this.#done === this.#locksAt) this.#ear.begun(this.#rows)
    if (this.#done === this.#queriesAt) this.#ear.locked()
    if (isStatement) this.#ear.answered()
  }

  handleError(error: Error): void {
    // answers come in their order: one to BEGIN would have come before
    if (this.#done === 0 && isEndOfSession(error)) this.mayHaveRun = false
    this.#ear.failed(error)
  }

  handleReadyForQuery(connection: unknown): void {
    const results: unknown[] = []
    let failure: Error | undefined
    for (const query of this.#queries) {
      query.callback = (error, result) => {
        if (error === null) results.push(result)
        else failure ??= error
      }
      query.handleReadyForQuery(connection)
    }
    if (failure === undefined) this.#ear.ended(results, this.#tag)
    else this.#ear.failed(unreadable(failure))
  }
}

/** What a server says that ends an idle session, in the place where it does that. A pooler says neither. */
function isEndOfSession({
  code,
  routine,
}: Error & { readonly code?: unknown; readonly routine?: unknown }): boolean {
  return typeof code === 'string' && code.startsWith('57P0') && routine === 'ProcessInterrupts'
}

/** A parser of the application's own has failed. */
function unreadable(cause: Error): LockUsageError {
  return new LockUsageError('statements', 'are stored, but what they gave could not be read', {
    isStored: true,
    cause,
  })
}

/** What a query sends, without the Sync at its end. */
function bytesOf(query: OwnQuery, client: RidingClient): readonly Uint8Array[] {
  const bytes: Uint8Array[] = []
  const stream = {
    writable: true,
    cork: () => {},
    uncork: () => {},
    write: (some: Uint8Array) => void bytes.push(some),
  }
  const collector = Object.create(client.connection ?? {}, {
    stream: { value: stream },
    sync: { value: () => {} },
  }) as object
  let failure: Error | null = null
  query.callback = (error) => void (failure = error)
  query.requiresPreparation = () => true
  const refused = query.submit(collector)
  const why: Error | null = refused ?? failure
  if (why !== null) throw why
  return bytes
}
