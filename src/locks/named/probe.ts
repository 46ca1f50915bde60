import { performance } from '../../core/clock.ts'
import { UnsupportedLockError } from '../../core/errors.ts'
import type { Session } from '../../core/session.ts'
import type { Row, SqlStatement } from '../../core/statement.ts'
import { unsupported, type Unsupported } from '../../core/support.ts'
import { inGrace } from '../limit.ts'
import type { Port } from '../port.ts'
import { createSpares, type Spares } from './spare-session.ts'

/** How often nobody else may be seen on the server of a connection before it is trusted. */
const quietRounds = 3
/** A server runs, though seldom, a transaction of its own on an idle connection. */
const maxRounds = 6
/** Whoever holds all other connections of a pool may wait for this very lock: so it is not waited for long. */
const openWithinMs = 2_000
/** Less than all of the check may take: the refusal is to say why. */
const atMostMs = 4_000
/** A connection takes some messages there and back, and more where it is encrypted. */
const messagesToOpen = 20

function noSecondConnection(waitedMs: number): Unsupported {
  return unsupported(
    `detecting a pooler takes a second connection, and none was available within ${Math.ceil(waitedMs)} ms`,
    'a pool of at least two connections, or locks.lease(...)',
  )
}
export const transactionPooler: Unsupported = unsupported(
  'a pooler gives each transaction a different server connection, so the lock would stay behind on the last one',
  'transaction-scoped locks.withLock(...), or locks.lease(...)',
)

/**
 * Makes sure, once, that locks which belong to a connection are worth something on this server, however it is reached.
 *
 * Rejects with {@link UnsupportedLockError} where they are not, and asks again at the next call. Takes and leaves no
 * lock. Of several calls at once one asks, and the others lend it their connections.
 */
export function createProbe<Tx>(port: Port<Tx>): (session: Session<Tx>) => Promise<void> {
  let isTrusted = false
  let running: Promise<void> | undefined
  const spares = createSpares<Tx>(port.sessions)
  return async (session) => {
    while (!isTrusted) {
      if (running === undefined) {
        running = inGrace(check(port, session, spares)).finally(() => (running = undefined))
        await running
        isTrusted = true
      } else {
        await spares.lendUntil(session, running).catch(ofTheServer)
      }
    }
  }
}

/** What another caller's check has found out counts for all; what broke its connection does not. */
function ofTheServer(error: unknown): void {
  if (error instanceof UnsupportedLockError) throw error
}

async function check<Tx>(port: Port<Tx>, session: Session<Tx>, spares: Spares<Tx>): Promise<void> {
  const { dialect } = await port.server(session)
  const { doubts } = dialect.named
  if (doubts === undefined) return
  const refuse = (refusal: Unsupported): UnsupportedLockError =>
    new UnsupportedLockError(dialect.name, 'advisory', refusal)
  const began = performance.now()
  const rows = await session.run(doubts.ask)
  const slowMs = messagesToOpen * (performance.now() - began)
  const patienceMs = Math.min(Math.max(openWithinMs, slowMs), atMostMs)
  const doubt = doubts.read(rows)
  if (doubt !== undefined) throw refuse(doubt)
  const { backend: ask } = doubts
  const own = rows[0]
  if (ask === undefined || (session.backend !== undefined && session.backend === own?.backend)) return
  const compare = (other: Session): Promise<boolean> => isShared({ session, own, other, ask })
  const changes = await spares.use(compare, patienceMs)
  if (changes === undefined) throw refuse(noSecondConnection(patienceMs))
  if (changes) throw refuse(transactionPooler)
}

interface Comparison {
  readonly session: Session
  /** What the session has told of its server. */
  readonly own: Row | undefined
  readonly other: Session
  readonly ask: SqlStatement
}

/**
 * Whether others use the server of a connection: the second connection is given it, the first is given another one, or
 * there are transactions on it that are not ours.
 *
 * A pooler in session mode keeps the server for one connection, and is as good as none.
 */
async function isShared({ session, own, other, ask }: Comparison): Promise<boolean> {
  let before = own
  let quiet = 0
  for (let round = 0; round < maxRounds && quiet < quietRounds; round += 1) {
    const [others] = await other.begin({ head: [ask] })
    // Most poolers lend first what came back last. Asked only meanwhile, each of the two could get its own again and
    // again; asked behind the other one, the first is given that one's.
    const isBehind = round % 2 === 1
    if (isBehind) await other.rollback()
    const [after] = await session.run(ask)
    if (!isBehind) await other.rollback()
    if (others?.backend === before?.backend || after?.backend !== before?.backend) return true
    if (!(Number(after?.turn) - Number(before?.turn) > 1)) quiet += 1
    before = after
  }
  return quiet < quietRounds
}
