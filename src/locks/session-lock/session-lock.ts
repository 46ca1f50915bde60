import { clearTimeout, performance, setTimeout } from '../../core/clock.ts'
import { deadlineIn } from '../../core/deadline.ts'
import { LockUsageError } from '../../core/errors.ts'
import type { LockKey } from '../../core/key.ts'
import type { Plan } from '../../core/plan.ts'
import type { AdvisoryRequest } from '../../core/request.ts'
import type { Session } from '../../core/session.ts'
import { readFailure } from '../failure.ts'
import { warn } from '../handle.ts'
import { createHolderSet } from './holder-set.ts'
import { takeTurn } from '../lane.ts'
import type { Port, Server } from '../port.ts'
import { labelOf, naming } from '../refused.ts'
import { askedOf, timedOut, type Ask, type Grant, type Ground } from './ask.ts'
import { createHold, heldOf, type Held, type Hold } from './hold.ts'
import { lockName } from './name.ts'
import { checkAcquire, usualLimits, type AcquireOptions, type SessionLockLimits } from './options.ts'
import { obtain } from './wait.ts'

/** Told once of a lock that is not held any longer, or never was. */
export type OnEnd = (isLost: boolean) => void

export interface SessionLocks {
  /**
   * Takes a named lock that belongs to a connection, and holds it until it is released or the connection is lost.
   *
   * Rejects with {@link LockNotAvailableError} or {@link LockTimeoutError} when another holds it, as asked.
   */
  readonly acquire: (key: LockKey, options?: AcquireOptions, onEnd?: OnEnd) => Promise<Held>
}

/** What the session locks of one `locks` object are made of. */
export interface SessionLocksPort<Tx> {
  readonly port: Port<Tx>
  readonly planFor: (server: Server, request: AdvisoryRequest) => Plan
  /** Rejects where a connection's locks are worth nothing. Told of each connection before a lock is taken there. */
  readonly checkServer: (session: Session<Tx>) => Promise<void>
  readonly limits?: Partial<SessionLockLimits>
}

let made = 0

/** Session locks on engines whose named locks belong to a connection: many locks on few connections. */
export function createSessionLocks<Tx>(source: SessionLocksPort<Tx>): SessionLocks {
  const limits = { ...usualLimits, ...source.limits }
  const ground = groundOf(source, limits)
  const lane = `session locks ${(made += 1)}`
  let count = 0
  return {
    acquire: async (key, options = {}, onEnd = () => {}) => {
      const hold = createHold(`the ${labelOf('lock', key)}`, (isLost) => {
        count -= 1
        onEnd(isLost)
      })
      const ask = askOf(key, options, { lose: hold.lose, server: source.port.server })
      ask.signal?.throwIfAborted()
      if (count >= limits.maxLocks) throw tooMany(limits)
      count += 1
      try {
        const grant = await obtainInTurn(ground, ask, { lane, warnAfterMs: limits.warnAfterMs })
        hold.signal.throwIfAborted()
        return heldOf(ask, { hold, grant }, { ...limits, waitedMs: performance.now() - ask.began })
      } catch (error) {
        hold.end()
        throw naming(error, askedOf(ask))
      }
    },
  }
}

function askOf(
  key: LockKey,
  options: AcquireOptions,
  { lose, server }: Pick<Hold, 'lose'> & Pick<Port<never>, 'server'>,
): Ask {
  const request = checkAcquire(key, options)
  const { wait } = request
  return {
    request,
    name: lockName(key),
    label: labelOf('lock', key),
    server,
    began: performance.now(),
    deadline: deadlineIn(typeof wait === 'object' ? wait.timeoutMs : undefined),
    signal: options.signal,
    lose,
  }
}

function groundOf<Tx>(
  { port, planFor, checkServer }: SessionLocksPort<Tx>,
  { heartbeatMs, locksPerConnection, patienceMs }: SessionLockLimits,
): Ground {
  let known: Server | undefined
  const server = (): Server => {
    if (known === undefined) throw new Error('no connection was there yet to tell what the server is')
    return known
  }
  const check = async (session: Session<Tx>): Promise<void> => {
    known = await port.server(session)
    await checkServer(session)
  }
  return {
    holders: createHolderSet(
      { sessions: port.sessions, checkServer: check },
      { heartbeatMs, locksPerConnection },
    ),
    planOf: ({ request }, wait) => planFor(server(), { ...request, wait }),
    meaningOf: (error) => readFailure(error, server().dialect).error,
    patienceMs,
  }
}

/**
 * Those of one process who wait for the same lock wait in the order of asking, so that only the first of them needs a
 * connection to wait on. Whoever does not wait does not stand in line.
 */
async function obtainInTurn(
  ground: Ground,
  ask: Ask,
  { lane, warnAfterMs }: { readonly lane: string; readonly warnAfterMs: number },
): Promise<Grant> {
  if (ask.request.wait === 'nowait') return obtain(ground, ask)
  const { deadline, signal } = ask
  const endTurn = await takeTurn(`${lane}: ${ask.name.text}`, { deadline, signal }).catch(
    (error: unknown) => {
      throw signal?.aborted === true ? error : timedOut(ask, error)
    },
  )
  const warning = setTimeout(() => warnOfItself(ground, ask), warnAfterMs)
  warning.unref()
  try {
    return await obtain(ground, ask)
  } finally {
    clearTimeout(warning)
    endTurn()
  }
}

function warnOfItself({ holders }: Ground, { name, label }: Ask): void {
  if (holders.modeOf(name) === undefined) return
  warn(
    `the ${label} is waited for by the process that holds it: a chain of calls that asks twice for one lock never gets it`,
  )
}

function tooMany({ maxLocks }: SessionLockLimits): LockUsageError {
  return new LockUsageError(
    'key',
    `${maxLocks} session locks are held or waited for already: more could fill the lock table of the server, for everybody`,
  )
}
