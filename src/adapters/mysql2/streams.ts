import { OpenReads } from '../open-reads.ts'

/** What is used of a stream of rows: a `Readable`. */
export interface RowStream {
  readonly readableLength: number
  readonly readableHighWaterMark: number
  destroy(): unknown
}

/**
 * The streams that the work makes of its statements. One that is full keeps the connection from reading on until its
 * reader takes something, and all that comes behind it with it.
 */
export class Streams {
  readonly #reads = new OpenReads()
  readonly #cut: () => void

  /** `cut` is told of a stream that was closed because nobody read it any more. */
  constructor(cut: () => void) {
    this.#cut = cut
  }

  returned(): void {
    this.#reads.returned()
  }

  /** The stream has been given a row. */
  took(stream: RowStream): void {
    if (isFull(stream)) this.#rest(stream)
  }

  ended(stream: RowStream): void {
    this.#reads.goesOn(stream)
  }

  #rest(stream: RowStream): void {
    this.#reads.rests(stream, () => {
      // somebody has read, so that the connection reads on
      if (!isFull(stream)) return
      this.#cut()
      // the connection reads on, and nobody is given the rest
      stream.destroy()
    })
  }
}

function isFull({ readableLength, readableHighWaterMark }: RowStream): boolean {
  return readableLength >= readableHighWaterMark
}
