import { OpenReads } from '../open-reads.ts'
import { hasEnded } from '../transaction-body.ts'
import type { Submittable } from './query.ts'

type Told = (error: unknown, ...rest: unknown[]) => void

/** What is used of a cursor, such as those of `pg-cursor`, to see who reads it. */
interface Reading {
  read: (rows: number, told?: Told) => unknown
}

/** The cursors and streams of a transaction: a client keeps everything back behind one that is open. */
export class Cursors {
  readonly #all: Submittable[] = []
  readonly #reads = new OpenReads()

  add(query: Submittable): void {
    this.#all.push(query)
    // a stream of `pg-query-stream` has a cursor beneath
    const cursor = (query.cursor ?? query) as Partial<Reading & Submittable>
    if (typeof cursor.read === 'function' && cursor.close !== undefined) this.#watch(query, cursor as Reading)
  }

  returned(): void {
    this.#reads.returned()
  }

  closeAll(): void {
    for (const query of this.#all.splice(0)) close(query)
  }

  /** A cursor cannot be closed before it is submitted, and not in the middle of a read: it would end twice. */
  #watch(query: Submittable, cursor: Reading): void {
    const { submit } = query
    const read = cursor.read.bind(cursor)
    let isSubmitted = false
    let isClosed = false
    let pending = 0
    const rest = (): void => {
      if (!isSubmitted || pending > 0) return
      this.#reads.rests(query, () => {
        isClosed = true
        close(query)
      })
    }
    const answered = (): void => {
      pending -= 1
      rest()
    }
    query.submit = (connection) => {
      isSubmitted = true
      rest()
      return submit.call(query, connection)
    }
    cursor.read = (rows, told) => {
      // a closed cursor says that it has no more rows, which is not true of this one
      if (isClosed) return refuseRead(told)
      pending += 1
      this.#reads.goesOn(query)
      return told === undefined ? promised(read(rows), answered) : read(rows, before(told, answered))
    }
  }
}

function close(query: Submittable): void {
  void (query.close ?? query.destroy)?.call(query)
}

function promised(answer: unknown, answered: () => void): unknown {
  void Promise.resolve(answer).then(answered, answered)
  return answer
}

function before(told: Told, answered: () => void): Told {
  return (...answer) => {
    answered()
    told(...answer)
  }
}

function refuseRead(told: Told | undefined): unknown {
  if (told === undefined) return Promise.reject(hasEnded())
  process.nextTick(told, hasEnded())
  return undefined
}
