import { backoffMs } from '../core/backoff.ts'
import { pause } from '../core/deadline.ts'
import type { Wait } from '../core/request.ts'
import type { Session } from '../core/session.ts'
import { isSql, type Statement } from '../core/statement.ts'
import { untilAborted } from './abort.ts'
import { NoConnectionError, openSession, type Patience } from './open-session.ts'
import type { Port } from './port.ts'
import { sessionEnd } from './session-end.ts'

/** Makes sure of the tables and rows that plans need, once for each `locks` object. */
export interface Needs {
  /**
   * On a session without a transaction, or on one of its own, for which it waits so long. Says whether any was made
   * just now: a transaction that began before may not see it.
   */
  readonly make: (statements: readonly Statement[], on: Session | Patience) => Promise<boolean>
  /** Makes them again next time: somebody may have deleted what was there. */
  readonly forget: (statements: readonly Statement[]) => void
}

/** Each named lock may need a row of its own: what is remembered of them must not grow for ever. */
const maxRemembered = 10_000

/** Two who make the same thing at once may get in each other's way. */
const maxTries = 5

export function createNeeds<Tx>(port: Port<Tx>): Needs {
  const made = new Map<string, Promise<unknown>>()
  const start = (name: string, statement: Statement, on: Session | Patience): Promise<unknown> => {
    const making = 'run' in on ? on.run(statement) : make(port, statement, on)
    made.set(name, making)
    if (made.size > maxRemembered) made.delete(firstOf(made))
    making.catch(() => {
      if (made.get(name) === making) made.delete(name)
    })
    return making
  }
  const makeOne = async (statement: Statement, on: Session | Patience): Promise<void> => {
    const name = nameOf(statement)
    for (let failed = 1; ; failed += 1) {
      const others = made.get(name)
      try {
        await (others ?? start(name, statement, on))
        return
      } catch (error) {
        // what ended another's connection, or patience, says nothing about ours
        const isOver = others === undefined && isPatienceOver(error, on)
        if (failed >= maxTries || isOver) throw error
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

function isPatienceOver(error: unknown, on: Session | Patience): boolean {
  return error instanceof NoConnectionError || ('signal' in on && on.signal?.aborted === true)
}

/** A pool may have no connection to spare: its last one may be that of the transaction that asks. */
const connectionPatienceMs = 60_000

async function make<Tx>(port: Port<Tx>, statement: Statement, patience: Patience): Promise<void> {
  const { signal, patienceMs = connectionPatienceMs } = patience
  const session = await openSession(port, { signal, patienceMs, purpose: 'to make what a lock needs' })
  const { doubt, end } = sessionEnd(session)
  try {
    await untilAborted(session.run(statement), signal, () => doubt(signal?.reason))
  } finally {
    await end()
  }
}

/** For whom a lock is made ready that is waited for so long. */
export function patienceOf(signal: AbortSignal | undefined, wait: Wait | undefined): Patience {
  return { signal, patienceMs: typeof wait === 'object' ? wait.timeoutMs : undefined }
}

function nameOf(statement: Statement): string {
  return isSql(statement)
    ? JSON.stringify([statement.sql, ...statement.params.map(String)])
    : JSON.stringify(statement.command)
}
