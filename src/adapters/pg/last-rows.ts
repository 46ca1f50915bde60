import type { Row } from '../../core/statement.ts'
import { rowOf } from './head.ts'

/** What is used of the connection beneath a client of `pg`. */
interface Wire {
  query(text: string): void
}

/** As `pg` gives it. */
interface LastResult {
  readonly command: string
  readonly rowCount: number
  readonly rows: readonly Row[]
}

type Told = (error: Error | null, result?: LastResult) => void

/**
 * A text of several statements that gives the rows of its last one, their values as text. For such a text `pg` answers with
 * a list of results, of which Kysely gives nothing.
 *
 * To those who look at it, such as a log, it is a text. To `pg` it is a query that somebody else has made: what `pg` gives
 * back for one is the query itself, and whoever awaits that has to get the answer.
 */
export class LastRows extends String {
  /** For those who trace the queries of `pg`. */
  readonly text: string
  /** `pg` puts its own around it where a query may take only so long. */
  callback: Told | undefined
  #columns: readonly string[] = []
  readonly #rows: Row[] = []
  #command = ''
  readonly #answer: Promise<LastResult>

  constructor(text: string) {
    super(text)
    this.text = text
    this.#answer = new Promise((resolve, reject) => {
      this.callback = (error, result) =>
        result === undefined ? reject(error ?? new Error('no answer')) : resolve(result)
    })
    this.#answer.catch(() => {}) // whoever awaits the query hears of it
  }

  // oxlint-disable-next-line unicorn/no-thenable -- it is awaited, see above
  then<A, B>(
    given: (result: LastResult) => A | PromiseLike<A>,
    failed?: (error: unknown) => B | PromiseLike<B>,
  ): Promise<A | B> {
    return this.#answer.then(given, failed)
  }

  submit(connection: Wire): null {
    connection.query(this.text)
    return null
  }

  handleRowDescription({ fields }: { readonly fields: readonly { readonly name: string }[] }): void {
    this.#columns = fields.map(({ name }) => name)
    this.#rows.length = 0
  }

  handleDataRow({ fields }: { readonly fields: readonly unknown[] }): void {
    this.#rows.push(rowOf(this.#columns, fields))
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    this.#command = text
  }

  handleReadyForQuery(): void {
    this.callback?.(null, { command: this.#command, rowCount: this.#rows.length, rows: this.#rows })
  }

  handleError(error: Error): void {
    this.callback?.(error)
  }
}
