/** The messages of `pg`'s connection that a cursor sends. */
interface Connection {
  parse(query: { text: string }): void
  bind(values: { values: readonly unknown[] }): void
  describe(what: { type: 'P' }): void
  execute(what: { rows: number }): void
  close(what: { type: 'P' }): void
  flush(): void
  sync(): void
}

interface Reading {
  readonly resolve: (rows: object[]) => void
  readonly reject: (error: unknown) => void
}

/** A portal that is read piece by piece, as those of `pg-cursor` are: it keeps the client until it is closed. */
export class Cursor {
  readonly text: string
  readonly #values: readonly unknown[]
  #connection: Connection | undefined
  #columns: readonly string[] = []
  #rows: object[] = []
  #reading: Reading | undefined
  #closing: (() => void) | undefined
  #waiting: number | undefined
  #isOver = false
  #error: Error | undefined

  constructor(text: string, values: readonly unknown[] = []) {
    this.text = text
    this.#values = values
  }

  submit(connection: Connection): void {
    this.#connection = connection
    connection.parse({ text: this.text })
    connection.bind({ values: this.#values })
    connection.describe({ type: 'P' })
    connection.flush()
    if (this.#waiting !== undefined) this.#fetch(this.#waiting)
  }

  read(rows: number): Promise<object[]> {
    if (this.#error !== undefined) return Promise.reject(this.#error)
    if (this.#isOver) return Promise.resolve([])
    return new Promise((resolve, reject) => {
      this.#reading = { resolve, reject }
      if (this.#connection === undefined) this.#waiting = rows
      else this.#fetch(rows)
    })
  }

  close(): Promise<void> {
    if (this.#isOver || this.#connection === undefined) return Promise.resolve()
    return new Promise((resolve) => {
      this.#closing = resolve
      this.#connection?.close({ type: 'P' })
      this.#connection?.sync()
    })
  }

  #fetch(rows: number): void {
    this.#connection?.execute({ rows })
    this.#connection?.flush()
  }

  #give(): void {
    const rows = this.#rows
    this.#rows = []
    this.#reading?.resolve(rows)
    this.#reading = undefined
  }

  handleRowDescription({ fields }: { fields: readonly { name: string }[] }): void {
    this.#columns = fields.map(({ name }) => name)
  }

  handleDataRow({ fields }: { fields: readonly unknown[] }): void {
    this.#rows.push(Object.fromEntries(this.#columns.map((column, at) => [column, fields[at]])))
  }

  handlePortalSuspended(): void {
    this.#give()
  }

  handleCommandComplete(): void {
    this.#isOver = true
    this.#connection?.sync()
  }

  handleReadyForQuery(): void {
    this.#isOver = true
    this.#give()
    this.#closing?.()
  }

  handleError(error: Error): void {
    this.#isOver = true
    this.#error = error
    this.#connection?.sync()
    this.#reading?.reject(error)
    this.#reading = undefined
    this.#closing?.()
  }
}
