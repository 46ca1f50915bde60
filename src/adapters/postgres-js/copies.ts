import { Readable, Writable } from 'node:stream'

/** The streams of COPY that the work has open: the server answers nothing else before their end. */
export class Copies {
  readonly #open = new Set<Readable | Writable>()

  /** What a query was answered with. */
  add(answer: unknown): void {
    if (!(answer instanceof Writable || answer instanceof Readable)) return
    this.#open.add(answer)
    answer.once('close', () => {
      this.#open.delete(answer)
      if (answer instanceof Readable && !answer.readableEnded) drain(answer)
    })
  }

  /** The server has refused what was copied: whoever writes would wait for ever. */
  fail(error: unknown): void {
    for (const stream of this.#open) if (stream instanceof Writable) stream.destroy(error as Error)
  }

  /** Says whether there was one. */
  endAll(): boolean {
    const all = [...this.#open]
    for (const stream of all) end(stream)
    this.#open.clear()
    return all.length > 0
  }
}

/** Somebody has left it in the middle: it takes no more, and postgres.js would not read on. */
function drain(stream: Readable): void {
  stream.push = () => true
  try {
    // oxlint-disable-next-line no-underscore-dangle -- what postgres.js has put there lets the connection read on
    stream._read(0)
  } catch {
    // the connection is gone, and with it what was to be read
  }
}

function end(stream: Readable | Writable): void {
  stream.on('error', () => {}) // its transaction is no success anyway
  if (stream instanceof Writable) stream.destroy(new Error('the transaction has ended'))
  // the server goes on until it has sent all
  else stream.resume()
}
