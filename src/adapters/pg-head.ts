import type { Row } from '../core/statement.ts'

/** Where a query of `pg` is told what the server answers. */
export interface HeadReader {
  handleRowDescription: (message: { readonly fields: readonly { readonly name: string }[] }) => void
  handleDataRow: (message: { readonly fields: readonly unknown[] }) => void
  handleCommandComplete: (message: unknown, connection: unknown) => void
  handleError: (error: Error, connection: unknown) => unknown
}

/** What is to be known of statements that go ahead of a query. */
export interface Ahead {
  readonly count: number
  /** Told the rows of the last of them. */
  readonly arrive: (rows: readonly Row[]) => void
  readonly fail: (error: Error) => void
}

/** Keeps from a query what the server answers to the statements ahead of it. */
export function headRows(query: HeadReader, { count, arrive, fail }: Ahead): void {
  const own = {
    row: query.handleRowDescription,
    data: query.handleDataRow,
    done: query.handleCommandComplete,
    error: query.handleError,
  }
  let left = count
  let columns: readonly string[] = []
  const rows: Row[] = []
  const giveWay = (): void => {
    query.handleRowDescription = own.row
    query.handleDataRow = own.data
    query.handleCommandComplete = own.done
    query.handleError = own.error
  }
  query.handleRowDescription = ({ fields }) => {
    columns = fields.map(({ name }) => name)
  }
  query.handleDataRow = ({ fields }) => {
    if (left === 1) rows.push(Object.fromEntries(columns.map((column, index) => [column, fields[index]])))
  }
  query.handleCommandComplete = () => {
    left -= 1
    if (left > 0) return
    giveWay()
    arrive(rows)
  }
  query.handleError = (error, connection) => {
    giveWay()
    fail(error)
    return query.handleError(error, connection)
  }
}

const bindAndExecute = messages(['B', '\0\0\0\0\0\0\0\0'], ['E', '\0\0\0\0\0'])
/** Only the last one is asked what its columns are. */
const bindDescribeAndExecute = messages(['B', '\0\0\0\0\0\0\0\0'], ['D', 'P\0'], ['E', '\0\0\0\0\0'])

/**
 * Statements without values, in the extended protocol, without the Sync that would end them.
 *
 * https://www.postgresql.org/docs/current/protocol-message-formats.html
 */
export function headMessages(texts: readonly string[]): Uint8Array {
  return Buffer.concat(
    texts.flatMap((text, index) => [
      messages(['P', `\0${text}\0\0\0`]),
      index === texts.length - 1 ? bindDescribeAndExecute : bindAndExecute,
    ]),
  )
}

/** Each has its letter, and its length with that of the length itself. */
function messages(...parts: readonly (readonly [letter: string, body: string])[]): Buffer {
  return Buffer.concat(
    parts.map(([letter, body]) => {
      const length = Buffer.alloc(4)
      length.writeInt32BE(4 + Buffer.byteLength(body))
      return Buffer.concat([Buffer.from(letter), length, Buffer.from(body)])
    }),
  )
}
