import type { Row } from '../../core/statement.ts'

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
    if (left === 1) rows.push(rowOf(columns, fields))
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

export function rowOf(columns: readonly string[], fields: readonly unknown[]): Row {
  const row: Record<string, unknown> = {}
  columns.forEach((column, index) => {
    row[column] = fields[index]
  })
  return row
}

/** Bind and Execute of the statement without a name, without values. */
const run = Buffer.from('B\0\0\0\x0c\0\0\0\0\0\0\0\0E\0\0\0\x09\0\0\0\0\0', 'latin1')
/** The same with a Describe between the two: only the last statement is asked what its columns are. */
const runDescribed = Buffer.from('B\0\0\0\x0c\0\0\0\0\0\0\0\0D\0\0\0\x06P\0E\0\0\0\x09\0\0\0\0\0', 'latin1')
/** The message `Flush`: without it the server keeps its answers until the Sync. */
export const flush: Uint8Array = Uint8Array.of(0x48, 0, 0, 0, 4)
/** What a Parse has beside its text: the letter, the length, no name, the end of the text, no types. */
const parseBytes = 1 + 4 + 1 + 1 + 2

/**
 * Statements without values, in the extended protocol, without the Sync that would end them. `isDescribed`: the last one
 * says what its columns are.
 *
 * https://www.postgresql.org/docs/current/protocol-message-formats.html
 */
export function runMessages(texts: readonly string[], isDescribed = false): Uint8Array {
  const lengths = texts.map((text) => Buffer.byteLength(text))
  let size = isDescribed ? runDescribed.length - run.length : 0
  for (const length of lengths) size += parseBytes + length + run.length
  const bytes = Buffer.alloc(size)
  let at = 0
  texts.forEach((text, index) => {
    const length = lengths[index] ?? 0
    bytes.write('P', at, 'latin1')
    bytes.writeInt32BE(parseBytes - 1 + length, at + 1)
    bytes.write(text, at + 6)
    at += parseBytes + length
    at += (isDescribed && index === texts.length - 1 ? runDescribed : run).copy(bytes, at)
  })
  return bytes
}

/** The beginning of a transaction, as it travels with a statement. */
export interface Head {
  /** By itself it is one message. */
  readonly text: string
  readonly texts: readonly string[]
  readonly messages: Uint8Array
}

/** An application has few beginnings, unless a name is locked by them: then it is those of its last transactions. */
const maxHeads = 100

const heads = new Map<string, Head>()

/** Made once for each text: every transaction begins, and to make the messages took longer than to send a statement. */
export function headOf(text: string): Head {
  const known = heads.get(text)
  if (known !== undefined) return known
  // no text of a beginning has a semicolon but between two statements
  const texts = text.split('; ')
  const head = { text, texts, messages: runMessages(texts, true) }
  if (heads.size >= maxHeads) heads.clear()
  heads.set(text, head)
  return head
}
