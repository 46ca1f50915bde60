import { backoffMs } from '../core/backoff.ts'
import { pause } from '../core/deadline.ts'
import { graceMs } from '../core/grace.ts'
import type { Session } from '../core/session.ts'
import { isSql, type Statement } from '../core/statement.ts'
import { NoAnswerError, within } from './limit.ts'
import { NoConnectionError, openSession } from './open-session.ts'
import type { Port } from './port.ts'
import { sessionEnd } from './session-end.ts'

/** Makes sure of the tables and rows that plans need, once for each `locks` object. */
export interface Needs {
  /**
   * On a session without a transaction; on one of its own when none is told. Says whether any was made just now: a
   * transaction that began before may not see it.
   */
  readonly make: (statements: readonly Statement[], on?: Session) => Promise<boolean>
  /** Makes them again next time: somebody may have deleted what was there. */
  readonly forget: (statements: readonly Statement[]) => void
}

/** Each named lock may need a row of its own: what is remembered of them must not grow for ever. */
const maxRemembered = 10_000

/** Two who make the same thing at once may get in each other's way. */
const maxTries = 5

/** How long a connection, or an answer, is waited for. Behind a silent network nobody else's call would ever end. */
const patienceMs = 30_000

export function createNeeds<Tx>(port: Port<Tx>): Needs {
  const made = new Map<string, Promise<unknown>>()
  const start = (name: string, statement: Statement, on: Session | undefined): Promise<unknown> => {
    const making = on === undefined ? make(port, statement) : on.run(statement)
    made.set(name, making)
    if (made.size > maxRemembered) made.delete(firstOf(made))
    making.catch(() => {
      if (made.get(name) === making) made.delete(name)
    })
    return making
  }
  const madeByAnother = (name: string, making: Promise<unknown>): Promise<unknown> =>
    // whoever makes it gives up first, and says why
    within({ ms: patienceMs + graceMs }, making, () => {
      if (made.get(name) === making) made.delete(name)
    })
  const makeOne = async (statement: Statement, on: Session | undefined): Promise<void> => {
    const name = nameOf(statement)
    for (let failed = 1; ; failed += 1) {
      const making = made.get(name)
      try {
        await (making === undefined ? start(name, statement, on) : madeByAnother(name, making))
        return
      } catch (error) {
        // what ended another's connection says nothing about ours
        if (failed >= maxTries || wasPatient(error)) throw error
        await pause(backoffMs(failed))
      }
    }
  }
  return {
    make: async (statements, on) => {
      const missing = statements.filter((statement) => !made.has(nameOf(statement)))
      // in their order: a row needs its table
      for (const statement of statements) await makeOne(statement, on)
      return missing.length > 0
    },
    forget: (statements) => {
      for (const statement of statements) made.delete(nameOf(statement))
    },
  }
}

function firstOf(made: ReadonlyMap<string, unknown>): string {
  const [first = ''] = made.keys()
  return first
}

/** Nobody answers, or gives a connection, and that was waited for long enough. */
function wasPatient(error: unknown): boolean {
  return error instanceof NoAnswerError || error instanceof NoConnectionError
}

async function make<Tx>(port: Port<Tx>, statement: Statement): Promise<void> {
  const session = await openSession(port, { purpose: 'for a row that a lock needs', patienceMs })
  const { doubt, end } = sessionEnd(session)
  try {
    await within({ ms: patienceMs }, session.run(statement), doubt)
  } finally {
    await end()
  }
}

function nameOf(statement: Statement): string {
  return isSql(statement)
    ? JSON.stringify([statement.sql, ...statement.params.map(String)])
    : JSON.stringify(statement.command)
}
