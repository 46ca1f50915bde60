import type { Row } from '../core/statement.ts'

/** A write that failed, out of a reply that says `ok: 1`: only the driver's own methods throw for those. */
export class MongodbWriteError extends Error {
  override readonly name = 'MongodbWriteError'
  /** The server's code. */
  readonly code: number
  readonly errorLabels: readonly string[]

  constructor({ code, errmsg }: WriteError, labels: unknown) {
    super(errmsg)
    this.code = code
    this.errorLabels = Array.isArray(labels) ? labels : []
  }
}

interface WriteError {
  readonly code: number
  readonly errmsg: string
}

/** The first write that failed, or that was made but not by as many members as were asked for. */
export function writeErrorIn(reply: Row): MongodbWriteError | undefined {
  const { writeErrors, writeConcernError, errorLabels } = reply
  const failed = Array.isArray(writeErrors) ? (writeErrors[0] as WriteError | undefined) : undefined
  const first = failed ?? (writeConcernError as WriteError | undefined)
  return first === undefined ? undefined : new MongodbWriteError(first, errorLabels)
}
