import type { LeaseSeen, LockSeen, SessionSeen } from '../../core/inspection.ts'
import { canonicalKey, isRawKey, type LockKey } from '../../core/key.ts'
import { asLeaseName } from '../../core/lease-name.ts'
import { readPermitName } from '../../core/permit-name.ts'

/** What was seen, before the keys are known. */
interface Seen<Locking> {
  readonly sessions: readonly Locking[]
  readonly leases: readonly LeaseSeen[]
}

/** Puts the whole key on every lock and lease that one of these keys leads to. The last keys are tried first. */
export function callInClear<Locking extends Pick<SessionSeen, 'holds' | 'waits'>>(
  { sessions, leases }: Seen<Locking>,
  keys: readonly LockKey[],
): Seen<Locking> {
  const locks = sessions.flatMap(({ holds, waits }) => [...holds, ...(waits ? [waits.lock] : [])])
  const names = new Set([
    ...locks.flatMap(nameIn),
    ...leases.map(({ name }) => readPermitName(name)?.hash ?? name),
  ])
  const clear = textByName(names, keys)
  const lock = (seen: LockSeen): LockSeen => {
    const [key] = nameIn(seen).flatMap((name) => clear.get(name) ?? [])
    return key === undefined ? seen : { ...seen, key }
  }
  return {
    sessions: sessions.map((session) => ({
      ...session,
      holds: session.holds.map(lock),
      ...(session.waits && { waits: { ...session.waits, lock: lock(session.waits.lock) } }),
    })),
    leases: leases.map((lease) => ({ ...lease, key: clearKey(lease.name, clear) ?? lease.key })),
  }
}

/** Of a semaphore's lease the key says which one it is, too. */
function clearKey(name: string, clear: ReadonlyMap<string, string>): string | undefined {
  const permit = readPermitName(name)
  if (permit === undefined) return clear.get(name)
  const key = clear.get(permit.hash)
  return key === undefined ? undefined : `${key} (${permit.part})`
}

/** What the server calls a lock that has a name. */
function nameIn({ kind, on }: LockSeen): readonly string[] {
  return kind === 'name' ? [on.replace(/^name /, '')] : []
}

/** The keys that these names stand for, as text. To hash a key takes a while, so it ends when all are found. */
function textByName(names: ReadonlySet<string>, keys: readonly LockKey[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const key of keys.toReversed()) {
    if (found.size === names.size) break
    if (isRawKey(key)) continue // is what the server shows
    const { int64, name } = canonicalKey(key)
    const text = [key].flat().map(String).join('.') // as in the readable part of a name
    for (const called of [String(int64), name, asLeaseName(name), name.slice(-32)]) {
      if (names.has(called)) found.set(called, text)
    }
  }
  return found
}
