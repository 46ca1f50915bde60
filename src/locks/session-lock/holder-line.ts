import type { Session } from '../../core/session.ts'
import type { Row, Statement } from '../../core/statement.ts'

/** Statements of many on one connection, one at a time and in the order of asking. */
export interface Line {
  readonly run: (statement: Statement) => Promise<readonly Row[]>
  /** Rejects all that wait for an answer, and all that come later: a driver may leave them pending for ever. */
  readonly close: (why: Error) => void
  /** Waits until nothing runs. */
  readonly idle: () => Promise<void>
  /** How many statements were answered so far. */
  readonly answers: () => number
}

export function lineOn({ run }: Pick<Session, 'run'>): Line {
  const pending = new Set<(why: Error) => void>()
  let last: Promise<void> = Promise.resolve()
  let closed: Error | undefined
  let answers = 0
  const inTurn = async (before: Promise<void>, statement: Statement): Promise<readonly Row[]> => {
    await before
    if (closed !== undefined) throw closed
    return run(statement)
  }
  return {
    run: (statement) =>
      new Promise((resolve, reject) => {
        const answer = inTurn(last, statement)
        pending.add(reject)
        last = answer.then(resolve, reject).finally(() => {
          answers += 1
          pending.delete(reject)
        })
      }),
    close: (why) => {
      closed ??= why
      for (const reject of pending) reject(why)
    },
    idle: () => last,
    answers: () => answers,
  }
}
