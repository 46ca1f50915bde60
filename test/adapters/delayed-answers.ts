import type { Sessions } from '../../src/core/session.ts'
import { isSql } from '../../src/core/statement.ts'

/**
 * The same sessions of a real server, but for what comes between its answer and whoever waits for that: `happens` is
 * told the statement, delays the answer for as long as it takes, and swallows it by throwing.
 */
export function withDelayedAnswers<Tx>(
  sessions: Sessions<Tx>,
  happens: (statement: string) => Promise<void> | void,
): Sessions<Tx> {
  return {
    ...sessions,
    open: async () => {
      const session = await sessions.open()
      return {
        ...session,
        run: async (statement) => {
          const rows = await session.run(statement)
          await happens(isSql(statement) ? statement.sql : JSON.stringify(statement.command))
          return rows
        },
      }
    },
  }
}

/** What a driver throws when the connection breaks before the answer. */
export function brokenConnection(): Error {
  return Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
}

/** Lets so many steps of other promises go by. */
export async function steps(count: number): Promise<void> {
  for (let done = 0; done < count; done += 1) await Promise.resolve()
}
