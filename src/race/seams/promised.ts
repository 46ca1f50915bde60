import type { Gate } from '../gate.ts'
import type { Answer } from '../seen.ts'

/** A statement of a driver that answers with a promise. */
export interface Promised<T> {
  readonly text: string
  readonly values?: readonly unknown[] | undefined
  readonly send: () => T | Promise<T>
  readonly answerOf: (answer: T) => Answer
}

/** Sends a statement when it is its turn, and settles as the driver does. */
export function promised<T>(
  gate: Gate,
  connection: object,
  { text, values, send, answerOf }: Promised<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    gate.hold(connection, {
      text,
      values,
      send: (end) => {
        Promise.resolve()
          .then(send)
          .then(
            (answer) => {
              end(undefined, answerOf(answer))
              resolve(answer)
            },
            (error: unknown) => {
              end(error)
              reject(error instanceof Error ? error : new Error(String(error)))
            },
          )
      },
      refuse: reject,
    })
  })
}

/** How many rows a statement has changed, where its text says that it changes any. */
export function countIn(text: string, count: unknown): Answer {
  return /^\s*(?:insert|update|delete|replace|merge)\b/i.test(text) ? { count: Number(count) } : {}
}
