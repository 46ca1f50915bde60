import { classifyFor } from '../../core/classify.ts'
import type { TableRequest } from '../../core/request.ts'
import type { Statement } from '../../core/statement.ts'
import { emit } from '../../emit.ts'
import { leavesTablesUnlocked, letsReadersThrough, locksInPlaceOfSharing } from '../controls/row-modes.ts'
import { defineLaw, type Law } from '../law.ts'
import type { Stage } from '../stage.ts'
import { whileHeld } from '../take-plan.ts'

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
    control: leavesTablesUnlocked,
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
      plan('table', { blockReaders: true }) === undefined ? 'nothing keeps readers out here' : undefined,
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
        const began = performance.now()
        const outcome = await whileLocked(stage, nowait, async () => 'granted').catch(
          (error: unknown) => classifyFor(error, stage.facts.dialect).kind,
        )
        const tookMs = Math.round(performance.now() - began)
        stage.expect(refusals.includes(outcome), `b: lock the table: ${outcome}`)
        stage.expect(tookMs < atOnceMs, `b: was refused after ${tookMs} ms`)
      })
    },
    control: leavesTablesUnlocked,
  }),
]

const refusals: readonly string[] = ['lock-not-available', 'lock-timeout', 'busy']
/** Much more than a busy machine needs, and less than any wait for a lock that is not told when to end. */
const atOnceMs = 10_000

/** A session that holds the table. */
interface Locking {
  readonly by: string
  readonly request?: Omit<TableRequest, 'table'>
}

async function whileLocked<T>(
  stage: Stage,
  { by, request = {} }: Locking,
  work: () => Promise<T>,
): Promise<T> {
  const { server } = await stage.client(by)
  const plan = emit(server, 'table', { ...request, table: stage.table })
  return whileHeld(stage, { by, plan, does: `lock the table ${JSON.stringify(request)}` }, work)
}

/** Somebody who wants to do something with the table meanwhile. */
interface Intruder {
  readonly untilWaiting: () => Promise<void>
  readonly done: Promise<unknown>
}

async function intruder(stage: Stage, name: string, statement: Statement): Promise<Intruder> {
  const { locks, run } = await stage.client(name)
  const does = 'use the table'
  const done = stage.note(
    name,
    does,
    locks.transaction((tx) => run(tx, statement), { signal: stage.signal }),
  )
  const isInServer = stage.facts.plan('table')?.waiting.by === 'server'
  return { done, untilWaiting: () => stage.untilWaiting(`${name}: ${does}`, done, isInServer) }
}
