import { isSql, type Row, type Statement } from '../../core/statement.ts'
import type { Sabotage } from '../subject.ts'
import { answeredBy, detoured, leasesBy, rowOf } from './lease-detour.ts'

const dayMs = 24 * 3600 * 1000

const neverExpires: Sabotage = leasesBy('keeps a lease long after its time', (lease) => ({
  acquire: (claim) => lease.acquire({ ...claim, ttlMs: claim.ttlMs + dayMs }),
  renew: (held, ttlMs) => lease.renew(held, ttlMs + dayMs),
}))

/** How servers are asked for the time, in milliseconds. */
const clocks = [
  /floor\(extract\(epoch FROM clock_timestamp\(\)\) \* 1000\)::bigint/g,
  /TIMESTAMPDIFF\(MICROSECOND, [^,]+, UTC_TIMESTAMP\(3\)\) DIV 1000/g,
  /CAST\(\(julianday\('now'\) - [\d.]+\) \* \d+ AS INTEGER\)/g,
  /epoch_ms\(now\(\)\)/g,
  /DATEDIFF_BIG\(millisecond, '\d+', SYSUTCDATETIME\(\)\)/g,
]

/** Looks at the clock of the client instead of the server's. */
export const clientsClock: Sabotage = leasesBy("goes by the client's clock", (lease) => ({
  acquire: (claim) => lease.acquire(claim).map(atClientsTime),
  renew: (held, ttlMs) => lease.renew(held, ttlMs).map(atClientsTime),
  release: (holder, holdMs) => lease.release(holder, holdMs).map(atClientsTime),
}))

function atClientsTime(statement: Statement): Statement {
  if (!isSql(statement)) {
    return { ...statement, command: atTime(statement.command, new Date(Date.now())) as Row }
  }
  const text = clocks.reduce((sql, clock) => sql.replaceAll(clock, `(${Date.now()})`), statement.sql)
  return { ...statement, sql: text }
}

/** The same with a moment wherever a document asks for the server's. */
function atTime(value: unknown, now: Date): unknown {
  if (value === '$$NOW') return now
  if (Array.isArray(value)) return value.map((part) => atTime(part, now))
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, atTime(part, now)]))
}

/** Removes the row when it is done with a lease, whoever has it by then. */
export const releasesAnybodys: Sabotage = leasesBy('releases whoever holds the lease', (lease, dialect) => {
  const tools = dialect.tools?.()
  return {
    release: (holder, holdMs) =>
      answeredBy(lease.release(holder, holdMs), async (run, statement) => {
        await run(statement)
        const remove = (await tools)?.examination.leaseRow.remove(holder.name)
        if (remove !== undefined) await run(remove)
        return [rowOf(statement, 'released')]
      }),
  }
})

/** Each client counts for itself, as a program does that keeps the number in its memory. */
export const countsForItself: Sabotage = leasesBy('numbers its leases anew after each start', (lease) => {
  const fences = new Map<string, number>()
  const real = <Held extends { readonly owner: string }>(held: Held): Held => ({
    ...held,
    ...(fences.has(held.owner) && { fence: fences.get(held.owner) }),
  })
  return {
    acquire: (claim) =>
      answeredBy(lease.acquire(claim), async (run, statement) => {
        const [row] = await run(statement)
        if (row === undefined) return []
        fences.set(claim.owner, Number(row.fence))
        return [{ ...row, fence: fences.size }]
      }),
    renew: (held, ttlMs) => lease.renew(real(held), ttlMs),
    release: (holder, holdMs) => lease.release(real(holder), holdMs),
    guard: (held) => lease.guard(real(held)),
  }
})

export const renewsInWordsOnly: Sabotage = leasesBy('says that it renews, and does not', (lease) => ({
  renew: (held, ttlMs) => [
    detoured(lease.renew(held, ttlMs).at(-1) ?? lease.guard(held), async (_, statement) => [
      rowOf(statement, 'granted'),
    ]),
  ],
}))

const writesUnfenced: Sabotage = leasesBy('lets everybody write who once held the lease', (lease) => ({
  guard: (held) => detoured(lease.guard(held), async (_, statement) => [rowOf(statement, 'granted')]),
}))

const ignoresHolding: Sabotage = leasesBy('frees a lease before the time it is to be held', (lease) => ({
  release: (holder) => lease.release(holder, 0),
}))

/** Leases under the names that locks have. */
export const namesLikeLocks: Sabotage = leasesBy('gives a lease the name of a lock', (lease) => {
  return {
    acquire: (claim) => lease.acquire(renamed(claim)),
    renew: (held, ttlMs) => lease.renew(renamed(held), ttlMs),
    release: (holder, holdMs) => lease.release(renamed(holder), holdMs),
    guard: (held) => lease.guard(renamed(held)),
  }
})

function renamed<Held extends { readonly name: string }>(held: Held): Held {
  return { ...held, name: held.name.replace(/^hl:/, 'hf:') }
}

/** What is known to go wrong with leases elsewhere. */
export const leaseDefects: readonly Sabotage[] = [
  neverExpires,
  clientsClock,
  releasesAnybodys,
  countsForItself,
  renewsInWordsOnly,
  writesUnfenced,
  ignoresHolding,
  namesLikeLocks,
]
