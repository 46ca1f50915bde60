import { describe, expect, test } from 'vitest'

import { describeEngines } from '../engines/use.ts'
import { describeBody } from './body.ts'
import { describeFinding, fuzz } from './fuzz.ts'
import { byHand } from './grounds/by-hand.ts'
import { shrink } from './shrink.ts'
import { ways } from './ways.ts'

/** Of each way into the library. `npm run fuzz` goes on for as long as it is told, with another seed each time. */
const bodies = Number(process.env.HOLDFAST_FUZZ_BODIES ?? 60)
const seed = Number(process.env.HOLDFAST_SEED ?? 1)
const options = { timeout: 600_000 }

/** Of who believes a COMMIT that was none. */
const lie = /^the call succeeded; stored: \[\]/

for (const way of ways) {
  const count = way.isSlow === true ? Math.ceil(bodies / 6) : bodies
  describe(way.title, () => {
    describeEngines(
      (context) => {
        test(`keeps its promises under ${count} random bodies`, options, async () => {
          const finding = await fuzz(way, () => context.kind.connect(context.server), {
            seed,
            goOn: (tried) => tried < count,
          })
          expect(finding && describeFinding(finding)).toBeUndefined()
        })
      },
      { only: way.engines },
    )
  })
}

describe('transactions by hand', () => {
  describeEngines(
    (context) => {
      test('are found out: a swallowed error, and COMMIT says nothing', options, async () => {
        const connect = () => context.kind.connect(context.server)
        const found: string[] = []
        // what else is wrong with them depends on who wins a race
        for (let next = seed; next < seed + 500 && !found.some((what) => lie.test(what));) {
          const finding = await fuzz(byHand, connect, {
            seed: next,
            goOn: (count) => next + count < seed + 500,
          })
          if (finding === undefined) break
          found.push(finding.what)
          next = finding.seed + 1
        }
        expect(found.at(-1)).toMatch(lie)
      })
    },
    { only: ['postgres'] },
  )
})

test('a body is shrunk to what its failure needs, and printed as a program', async () => {
  const write = { do: 'write', manner: 'float' } as const
  const needed = { do: 'fail', by: 'nonsense', manner: 'catch' } as const
  const body = {
    call: 'withLock',
    options: { attempts: 2, lockTimeoutMs: 50 },
    hasRival: true,
    hasTwin: false,
    steps: [
      write,
      { do: 'together', steps: [write, needed], manner: 'await' },
      { do: 'abort', after: 0, manner: 'await' },
    ],
    end: 'throw',
    late: [write],
  } as const
  const smallest = await shrink(body, async ({ steps }) => JSON.stringify(steps).includes('nonsense'))
  expect(describeBody(smallest)).toBe(
    ['await locks.transaction(async (tx) => {', '  await sendNonsense(tx)', '}, {})'].join('\n'),
  )
})
