import type { LockKey } from '../../core/key.ts'
import { attempt, holdMs, isKeptOut, type Attempt } from './attempt.ts'
import type { Tried } from '../named/try-lock.ts'
import type { Ground, TrialLocks } from './ground.ts'
import { broken, holds, untried, verdictOfError, verdictOfLoser, type Verdict } from './verdict.ts'

const keptOut = 'a second connection was kept out, and got the lock when the first had given it up'
const heldTwice = 'two connections held the same name at the same time'
const notFree = 'it was refused although nobody held it'
const stillHeld = 'it was still held after its holder had given it up'

/** A named lock for as long as a transaction. */
export async function tryNamed<Tx>(ground: Ground<Tx>, key: LockKey): Promise<Verdict> {
  const { a } = ground
  const ask = (): Promise<Attempt<Tried<void>>> => askToTry(ground, key)
  // what is made and asked once, by each, does not happen while the other holds
  const free = await ask()
  if (!isTaken(free)) return verdictOfStart(free)
  const hold = await attempt(
    ground,
    (signal) => a.withLock(key, () => ask(), { signal, wait: { timeoutMs: 1000 } }),
    holdMs,
  )
  if (hold.outcome !== 'granted') return verdictOfStart(hold)
  if (isTaken(hold.value)) return broken(heldTwice)
  if (hold.value.outcome === 'failed') return verdictOfError(hold.value.error)
  return isTaken(await ask()) ? holds(keptOut) : broken(stillHeld)
}

function askToTry<Tx>(ground: Ground<Tx>, key: LockKey): Promise<Attempt<Tried<void>>> {
  return attempt(ground, (signal) => ground.b.tryLock(key, async () => {}, { signal }))
}

function isTaken(tried: Attempt<Tried<void>>): boolean {
  return tried.outcome === 'granted' && tried.value.acquired
}

/** A named lock until it is released. */
export async function trySession<Tx>(ground: Ground<Tx>, key: LockKey): Promise<Verdict> {
  const free = await passing(ground, ground.b, key)
  if (free.outcome !== 'granted') return verdictOfStart(free)
  const held = await attempt(ground, (signal) => ground.a.acquire(key, { wait: 'nowait', signal }))
  if (held.outcome !== 'granted') return verdictOfStart(held)
  try {
    const second = await passing(ground, ground.b, key)
    if (!isKeptOut(second)) return verdictOfLoser(second, heldTwice)
  } finally {
    await held.value.release()
  }
  const after = await passing(ground, ground.b, key)
  return after.outcome === 'granted' ? holds(keptOut) : verdictOfLoser(after, stillHeld)
}

/** Takes the lock and gives it back. */
function passing<Tx>(ground: Ground<Tx>, locks: TrialLocks<Tx>, key: LockKey): Promise<Attempt<void>> {
  return attempt(ground, async (signal) => (await locks.acquire(key, { wait: 'nowait', signal })).release())
}

function verdictOfStart(tried: Attempt<unknown>): Verdict {
  return tried.outcome === 'failed' ? verdictOfError(tried.error) : untried(notFree)
}
