import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { openGround, type Ground } from '../../src/conformance/ground.ts'
import type { Law } from '../../src/conformance/law.ts'
import type { TraceEvent } from '../../src/conformance/report.ts'
import { runLaw } from '../../src/conformance/run-law.ts'
import type { Subject } from '../../src/conformance/subject.ts'
import { describeEngines } from '../engines/use.ts'
import { keepPools, type Keeper } from './kept-pools.ts'
import { adaptersOf, subjectOf, type Adapter } from './subjects.ts'

/** The ways to an engine on which laws are run. */
export interface Ways {
  /** @default every engine */
  readonly engines?: readonly string[]
  readonly adaptersOf: (engine: string) => readonly string[]
  readonly subjectOf: (engine: string, adapter: string, url: string) => Subject
}

const ownWays: Ways = {
  adaptersOf,
  subjectOf: (engine, adapter, url) => subjectOf(engine, adapter as Adapter, url),
}

/** How often each law is run. */
const runs = Number(process.env.HOLDFAST_LAW_RUNS ?? 1)

/** Only against hanging: a machine may be ten times slower than the one that a law's own limit is meant for. */
export const lawTimeoutMs = 120_000

/**
 * One spec for each law, engine and adapter, and one for its control.
 *
 * Controls are about the laws, and not about adapters: each engine's own driver is enough for them.
 */
export function describeLaws(laws: readonly Law[], ways: Ways = ownWays): void {
  const choice = ways.engines && { only: ways.engines }
  describeEngines((context) => {
    for (const adapter of ways.adaptersOf(context.name)) {
      describe(`through ${adapter}`, () => {
        let ground: Ground
        let pools: Keeper
        beforeAll(async () => {
          const subject = ways.subjectOf(context.name, adapter, context.engine.server.url)
          pools = keepPools(subject)
          ground = await openGround(subject)
        })
        afterAll(async () => {
          await pools.end()
          await ground.close()
        })

        for (const law of laws) {
          test(
            `${law.id}: ${law.says}`,
            async () => {
              for (let run = 1; run <= runs; run += 1) {
                const { verdict, reason, trace } = await runLaw({ ...ground, subject: pools.subject }, law, {
                  seed: run,
                  timeoutMs: lawTimeoutMs,
                })
                if (verdict !== 'holds') await pools.end()
                expect(verdict, `${reason}\n${timeline(trace)}`).not.toBe('broken')
              }
            },
            lawTimeoutMs * (runs + 1),
          )

          if (adapter !== 'driver') continue
          test(`${law.id} does not hold for who ${law.control.does}`, async () => {
            const { verdict } = await runLaw(ground, law, { sabotage: law.control, timeoutMs: 5_000 })
            expect(verdict).not.toBe('holds')
          })
        }
      })
    }
  }, choice)
}

function timeline(trace: readonly TraceEvent[]): string {
  return trace
    .map(
      ({ startMs, actor, does, outcome, detail = '' }) => `${startMs} ${actor} ${does}: ${outcome} ${detail}`,
    )
    .join('\n')
}
