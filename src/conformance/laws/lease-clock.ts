import { clientsClock } from '../controls/lease-defects.ts'
import { defineLaw, type Law } from '../law.ts'
import type { Stage } from '../stage.ts'
import { expectLeased, long, seenLease, short, takeLease, untilExpired } from './taking-leases.ts'

const hourMs = 3_600_000

/** The clocks of clients have no say. */
export const clockLaws: readonly Law[] = [
  defineLaw({
    id: 'L15',
    says: 'A client whose clock is an hour ahead neither takes a held lease nor keeps an expired one.',
    features: ['lease'],
    trial: (stage) => strayClock(stage, hourMs),
    control: clientsClock,
  }),
  defineLaw({
    id: 'L16',
    says: 'A client whose clock is an hour behind neither loses its own lease nor misses an expired one.',
    features: ['lease'],
    trial: (stage) => strayClock(stage, -hourMs),
    control: clientsClock,
  }),
]

interface Stray {
  readonly name: string
  /** How wrong the clocks are of who holds the lease and of who wants it. */
  readonly holder: number
  readonly taker: number
}

/** Once the holder's clock is wrong, once that of the one who wants the lease. */
async function strayClock(stage: Stage, offMs: number): Promise<void> {
  const strays = [
    { name: 'right', holder: 0, taker: offMs },
    { name: 'wrong', holder: offMs, taker: 0 },
  ]
  for (const stray of strays) await expectKept(stage, stray)
  for (const stray of strays) await startBrief(stage, stray)
  for (const stray of strays) await takeWhenOver(stage, stray)
}

async function expectKept(stage: Stage, { name, holder, taker }: Stray): Promise<void> {
  const key = `held by the ${name} clock`
  const held = await atClock(holder, () => takeLease(stage, { actor: 'a', key, options: long }))
  await atClock(taker, () => expectLeased(stage, { actor: 'b', key }))
  await held.release()
}

const briefly = ({ name }: Stray): string => `held briefly by the ${name} clock`

async function startBrief(stage: Stage, stray: Stray): Promise<void> {
  const key = briefly(stray)
  await atClock(stray.holder, () => takeLease(stage, { actor: 'a', key, options: short(stage) }))
  const leftMs = (await seenLease(stage, key))?.remainingMs ?? 0
  stage.expect(leftMs <= stage.briefMs + 10, `a lease of ${stage.briefMs} ms has ${leftMs} ms left`)
}

async function takeWhenOver(stage: Stage, stray: Stray): Promise<void> {
  const key = briefly(stray)
  await untilExpired(stage, key)
  const options = { ...long, wait: 'nowait' } as const
  const next = await atClock(stray.taker, () => takeLease(stage, { actor: 'b', key, options }))
  await next.release()
}

const { now: trueNow } = Date

/**
 * Runs something while the clock of this process is wrong. A law that is out of time may still be here when another comes:
 * the later one has the clock, and leaves the true one.
 */
async function atClock<T>(offMs: number, work: () => Promise<T>): Promise<T> {
  const wrongNow = (): number => trueNow.call(Date) + offMs
  Date.now = wrongNow
  try {
    return await work()
  } finally {
    if (Date.now === wrongNow) Date.now = trueNow
  }
}
