import { classifyFor } from '../../core/classify.ts'
import { awakeMs } from '../awake.ts'
import { unlocked } from '../controls.ts'
import { letsReadersThrough, locksInPlaceOfSharing } from '../controls/row-modes.ts'
import { defineLaw, type Law } from '../law.ts'
import { intruder, whileLocked } from '../table-holder.ts'

/** Who is kept out of a table that a transaction has locked as it began. */
export const tableLaws: readonly Law[] = [
  defineLaw({
    id: 'B1',
    says: 'A locked table blocks writers until the transaction ends.',
    features: ['table'],
    rows: { 1: 10 },
    trial: async (stage) => {
      await stage.client('b')
      const writer = await whileLocked(stage, { by: 'a' }, async () => {
        const waiting = await intruder(stage, 'b', stage.facts.tools.fixture.write(stage.table, 1, 11))
        await waiting.untilWaiting()
        return waiting
      })
      await writer.done
      const n = (await stage.committed()).get(1)
      stage.expect(n === 11, `row 1 is ${n}, not 11`)
    },
    control: unlocked,
  }),
  defineLaw({
    id: 'B2',
    says: 'Several transactions can hold shared locks on a table; a writer waits for the last of them.',
    features: ['table'],
    rows: { 1: 10 },
    unless: ({ plan }) =>
      plan('table', { mode: 'shared' })?.mode === 'shared'
        ? undefined
        : 'a shared lock on a table is an exclusive one here',
    trial: async (stage) => {
      const request = { mode: 'shared', wait: { timeoutMs: 1000 } } as const
      const writer = await whileLocked(stage, { by: 'a', request }, async () => {
        const waiting = await whileLocked(stage, { by: 'b', request }, async () => {
          const begun = await intruder(stage, 'c', stage.facts.tools.fixture.write(stage.table, 1, 11))
          await begun.untilWaiting()
          return begun
        })
        await waiting.untilWaiting()
        return waiting
      })
      await writer.done
    },
    control: locksInPlaceOfSharing,
  }),
  defineLaw({
    id: 'B3',
    says: 'A table locked against readers cannot be read until the transaction ends.',
    features: ['table'],
    rows: { 1: 10 },
    unless: ({ plan }) =>
      plan('table', { blockReaders: true }) === undefined
        ? 'nothing keeps readers out here'
        : plan('table')?.support.level === 'stronger'
          ? 'every lock that is not shared keeps readers out here'
          : undefined,
    trial: async (stage) => {
      await stage.client('b')
      const reader = await whileLocked(stage, { by: 'a', request: { blockReaders: true } }, async () => {
        const waiting = await intruder(stage, 'b', stage.facts.tools.fixture.read(stage.table, 1))
        await waiting.untilWaiting()
        return waiting
      })
      await reader.done
    },
    control: letsReadersThrough,
  }),
  defineLaw({
    id: 'B4',
    says: 'NOWAIT on a locked table fails at once.',
    features: ['table', 'nowait'],
    rows: { 1: 10 },
    trial: async (stage) => {
      await stage.client('b')
      await whileLocked(stage, { by: 'a' }, async () => {
        const nowait = { by: 'b', request: { wait: 'nowait' } } as const
        const began = awakeMs()
        const outcome = await whileLocked(stage, nowait, async () => 'granted').catch(
          (error: unknown) => classifyFor(error, stage.facts.dialect).kind,
        )
        const tookMs = Math.round(awakeMs() - began)
        stage.expect(outcome === 'lock-not-available', `b: lock the table: ${outcome}`)
        stage.expect(tookMs < atOnceMs, `b: was refused after ${tookMs} ms`)
      })
    },
    control: unlocked,
  }),
  defineLaw({
    id: 'B5',
    says: 'A wait for a table ends when its time is over, and the table is not had later.',
    features: ['table', 'lock-timeout'],
    rows: { 1: 10 },
    trial: async (stage) => {
      await stage.client('b')
      await whileLocked(stage, { by: 'a' }, async () => {
        const timed = { by: 'b', request: { wait: { timeoutMs: 1000 } } } as const
        const outcome = await whileLocked(stage, timed, async () => 'granted').catch(
          (error: unknown) => classifyFor(error, stage.facts.dialect).kind,
        )
        stage.expect(outcome === 'lock-timeout', `b: lock the table: ${outcome}`)
      })
    },
    control: unlocked,
  }),
]

/** Much more than a busy machine needs, and less than any wait for a lock that is not told when to end. */
const atOnceMs = 10_000
