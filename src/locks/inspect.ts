import { checkSignal, onlyKnown, oneOf, show } from '../core/check-field.ts'
import { LockUsageError } from '../core/errors.ts'
import type { InspectOptions, Inspection, SessionSeen } from '../core/inspection.ts'
import { canonicalKey, isRawKey, type LockKey } from '../core/key.ts'
import type { Session } from '../core/session.ts'
import { untilAborted } from './abort.ts'
import { lengthOfLine } from './lane.ts'
import { callInClear } from './named/clear-names.ts'
import { openSession } from './open-session.ts'
import type { Port } from './port.ts'
import { askAll } from './questions.ts'
import { sessionEnd } from './session-end.ts'

export type Inspect = (options?: InspectOptions) => Promise<Inspection>

/** A pool whose connections all wait for locks gives none to somebody who wants to see why. */
const patienceMs = 30_000

/**
 * Tells who holds and who waits, by what the server shows. Takes no lock and begins no transaction.
 *
 * What the server refuses to show is in `unseen`. Rejects when it cannot be reached, and with {@link LockUsageError}
 * when no connection comes free.
 */
export function createInspect<Tx>(port: Port<Tx>, known: Iterable<LockKey>): Inspect {
  return async (options = {}) => {
    const { scope, keys, signal } = checkOptions(options)
    const session = await openSession(port, { purpose: 'to look at the locks', patienceMs, signal })
    const { end, doubt } = sessionEnd(session)
    try {
      const seen = await untilAborted(look(port, { session, scope, doubt }), signal, () => {})
      return { ...seen, ...callInClear(seen, [...known, ...keys]) }
    } catch (error) {
      if (!(error instanceof LockUsageError)) doubt(error)
      throw error
    } finally {
      await end()
    }
  }
}

/** Every key is tried at once, so that a mistake in it is heard of before anything is asked. */
function checkOptions(options: InspectOptions): {
  readonly scope: 'database' | 'server'
  readonly keys: readonly LockKey[]
  readonly signal: AbortSignal | undefined
} {
  onlyKnown(options, ['scope', 'keys', 'signal'])
  const { scope = 'database', keys = [], signal } = options
  checkSignal(signal)
  if (!Array.isArray(keys)) throw new LockUsageError('keys', `${show(keys)} is not a list of keys`)
  for (const key of keys as readonly LockKey[]) if (!isRawKey(key)) canonicalKey(key)
  return { scope: oneOf('scope', scope, ['database', 'server']), keys, signal }
}

interface Look {
  readonly session: Session
  readonly scope: 'database' | 'server'
  readonly doubt: (why: unknown) => void
}

async function look<Tx>(port: Port<Tx>, { session, scope, doubt }: Look): Promise<Inspection> {
  const { dialect, version } = await port.server(session)
  if (dialect.tools === undefined)
    throw new LockUsageError('dialect', `${dialect.name} does not say how its locks can be seen`)
  const { inspector } = await dialect.tools()
  const questions = inspector.questions(scope, version)
  const { replies, refused } = await askAll(questions, { session, dialect, doubt })
  const { sessions, leases, unseen = [] } = inspector.read(replies)
  return {
    dialect: dialect.name,
    version: version.join('.'),
    sessions: [...sessions, ...inLine(port)],
    leases,
    unseen: [...refused, ...unseen, ...inspector.blindSpots],
  }
}

/** Those of this process who take turns to write, because the engine itself has no line. */
function inLine<Tx>({ sessions: { lane } }: Port<Tx>): readonly SessionSeen[] {
  const length = lane === undefined ? 0 : lengthOfLine(lane())
  const turn = { kind: 'database', mode: 'turn', on: 'the turn of this process to write' } as const
  return Array.from({ length }, (_, place) => {
    const id = `this process, ${place + 1}`
    return place === 0
      ? { id, state: 'active', holds: [turn] }
      : { id, state: 'waiting', holds: [], waits: { lock: turn, blockedBy: [`this process, 1`] } }
  })
}
