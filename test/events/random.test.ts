import { channel } from 'node:diagnostics_channel'
import { setImmediate as nextRound } from 'node:timers/promises'

import fc from 'fast-check'
import { expect, test } from 'vitest'

import { until } from '../engines/until.ts'
import { caught, describePatterns, type Node, type PatternStage } from '../patterns/stage.ts'
import { faultsIn, keepLedger } from './ledger.ts'

/** One step of a body. `floats`: nobody waits for it. */
interface Step {
  readonly does: 'lock' | 'busy' | 'rows' | 'join' | 'round' | 'kill' | 'abort' | 'throw' | 'savepoint'
  readonly key: number
  readonly floats: boolean
}

interface Body {
  readonly keys: readonly number[]
  readonly steps: readonly Step[]
  readonly aborts: 'never' | 'at once' | 'in a round'
}

const step: fc.Arbitrary<Step> = fc.record({
  does: fc.constantFrom(
    ...([
      'lock',
      'lock',
      'busy',
      'rows',
      'rows',
      'join',
      'round',
      'kill',
      'abort',
      'throw',
      'savepoint',
    ] as const),
  ),
  key: fc.integer({ min: 1, max: 3 }),
  floats: fc.boolean(),
})

const body: fc.Arbitrary<Body> = fc.record({
  keys: fc.uniqueArray(fc.integer({ min: 1, max: 3 }), { maxLength: 2 }),
  steps: fc.array(step, { maxLength: 6 }),
  aborts: fc.constantFrom('never', 'never', 'never', 'at once', 'in a round'),
})

/** Ends the connection that the statement runs on. */
const kill: Readonly<Record<string, string>> = {
  postgres: 'select pg_terminate_backend(pg_backend_pid())',
  mysql: 'kill connection_id()',
}

describePatterns(
  (stage) => {
    test('whatever a transaction does: what was granted ends once, and what was refused never', async () => {
      const ledger = keepLedger()
      await using busy = await stage.node(1).meeting.shared.acquire(keyOf(stage, 'busy'))
      await fc.assert(
        fc.asyncProperty(body, async (made) => {
          ledger.clear()
          await play(stage, made)
          // what nobody waits for may be answered later
          await until(() => faultsIn(ledger).length === 0, 'a ledger without faults')
        }),
        { numRuns: 60, endOnFailure: true },
      )
      expect(busy.signal.aborted).toBe(false)
    })
  },
  { nodes: 2, only: ['postgres', 'mysql', 'sqlite'] },
)

test('a lock that is told as granted, and never as ended, is a fault', () => {
  const ledger = keepLedger()
  const event = { outcome: 'granted', waitedMs: 1 }
  for (const name of ['start', 'end', 'asyncStart', 'asyncEnd'])
    channel(`tracing:holdfast:lock:${name}`).publish(event)
  expect(faultsIn(ledger)).toHaveLength(1)
  Object.assign(event, { heldMs: 1, isLost: false })
  channel('holdfast:lock:ended').publish(event)
  expect(faultsIn(ledger)).toEqual([])
  channel('holdfast:lock:ended').publish(event)
  expect(faultsIn(ledger)).toHaveLength(1)
})

function keyOf({ name }: PatternStage, key: number | string): readonly [string, string, string] {
  return ['random events', name, String(key)]
}

/** Runs the body to its end, and everything that it has left under way. */
async function play(stage: PatternStage, { keys, steps, aborts }: Body): Promise<void> {
  const { shared } = stage.node().meeting
  const abort = new AbortController()
  const calls: Promise<unknown>[] = []
  const options = { signal: abort.signal, attempts: 2, backoff: { baseMs: 1, capMs: 1 } }
  const work = async (tx: unknown): Promise<void> => {
    for (const one of steps) {
      const doing = perform(stage, { node: stage.node(), tx, abort }, one)
      calls.push(caught(doing))
      if (!one.floats) await doing
    }
  }
  const whole =
    keys.length === 0
      ? shared.transaction(work, options)
      : shared.withLocks(
          keys.map((key) => keyOf(stage, key)),
          work,
          options,
        )
  if (aborts === 'at once') abort.abort()
  if (aborts === 'in a round') void nextRound().then(() => abort.abort())
  await caught(whole)
  await Promise.all(calls)
}

interface Scene {
  readonly node: Node
  readonly tx: unknown
  readonly abort: AbortController
}

async function perform(
  stage: PatternStage,
  { node, tx, abort }: Scene,
  { does, key }: Step,
): Promise<unknown> {
  const { shared } = node.meeting
  const say = (sql: string): Promise<unknown> => node.run(tx, { sql, params: [] })
  if (does === 'lock') return shared.lock(tx, keyOf(stage, key), { reentry: 'join' })
  if (does === 'busy') return shared.lock(tx, keyOf(stage, 'busy'), { wait: 'nowait' })
  if (does === 'rows') return node.rows(tx, { table: 'account', key: { id: key } })
  if (does === 'join')
    return shared.withLock(keyOf(stage, key), () => nextRound(), { nested: 'join', reentry: 'join' })
  if (does === 'round') return nextRound()
  if (does === 'kill') return stage.name in kill ? say(kill[stage.name] ?? '') : undefined
  if (does === 'abort') return abort.abort()
  if (does === 'throw') throw new Error('thrown by the body')
  await say('savepoint mine')
  await shared.lock(tx, keyOf(stage, key), { reentry: 'join' })
  return say('rollback to savepoint mine')
}
