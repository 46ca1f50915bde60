import type { Sabotage } from '../subject.ts'
import { answeredBy, detoured, leasesBy, rowOf } from './lease-detour.ts'

/** Does not see that somebody stands in the line. */
export const overlooksLine: Sabotage = leasesBy(
  'takes a free permit although others wait for one',
  (lease) => ({
    look: (names) =>
      detoured(lookOf(lease)(names), async (run, statement) =>
        (await run(statement)).filter(({ name }) => !String(name).startsWith('hp:door:')),
      ),
  }),
)

/** Whoever asks gets what it asked for, and looks at nothing. */
const grantsHeld: Sabotage = leasesBy('grants a permit that another holds', (lease) => {
  let fence = Date.now()
  return {
    look: (names) => detoured(lookOf(lease)(names), async () => []),
    acquire: (claim) =>
      answeredBy(lease.acquire(claim), async (_, statement) => [
        { ...rowOf(statement, 'granted'), fence: (fence += 1) },
      ]),
  }
})

/** What is known to go wrong with semaphores elsewhere. */
export const semaphoreDefects: readonly Sabotage[] = [overlooksLine, grantsHeld]

function lookOf({ look }: Parameters<Parameters<typeof leasesBy>[1]>[0]): NonNullable<typeof look> {
  if (look === undefined) throw new TypeError('this dialect cannot look at leases')
  return look
}
