import { randomBytes } from 'node:crypto'

import type { LockKey } from '../core/key.ts'
import type { Row, Statement } from '../core/statement.ts'
import type { Actor } from './actor.ts'
import { createCast } from './cast.ts'
import { readAgain, type Ground } from './ground.ts'
import { expectNothingHeld } from './hygiene.ts'
import { BrokenLawError } from './broken-law.ts'
import type { Facts } from './facts.ts'
import { untilWaiting } from './observe.ts'
import type { Client, Fault, Sabotage } from './subject.ts'
import { createTracer, type Tracer } from './trace.ts'

/** What one run of a law has: a table of its own, keys of its own, and as many clients as it asks for. */
export interface Stage {
  readonly facts: Facts
  readonly ground: Ground
  readonly table: string
  readonly tracer: Tracer
  /** A number from 0 up to 1, the same again for the same seed. */
  readonly random: () => number
  /** Aborts when the law's time is over. */
  readonly signal: AbortSignal
  /** How long a lease is for that is to end: long enough to be granted on a busy machine, short enough to be waited for. */
  readonly briefMs: number
  /** A key that no other run has. */
  readonly keyOf: (name: string) => LockKey
  /** The client of this name, with a pool of its own: opened when it is first asked for, on a wire with this fault. */
  readonly client: (name: string, fault?: Fault) => Promise<Client>
  /** The same client as somebody who follows a schedule. */
  readonly actor: (name: string) => Promise<Actor>
  /** Writes down what is done in the name of a client. */
  readonly note: <T>(actor: string, does: string, work: Promise<T>) => Promise<T>
  /**
   * Waits until this is seen waiting, and breaks the law when it ends instead. The number says how many wait in the
   * server by then, this one included. Absent: the server does not make it wait.
   */
  readonly untilWaiting: (does: string, work: Promise<unknown>, inServer?: number) => Promise<void>
  /** Makes one more table, which ends with the law. Gives its name. */
  readonly addTable: (suffix: string, create: (table: string) => Statement) => Promise<string>
  /** The table as it is committed. */
  readonly committed: () => Promise<ReadonlyMap<number, number>>
  /** Breaks the law unless this is so. */
  readonly expect: (isSo: boolean, otherwise: string) => void
  /** Is done when the law is over, however it ends. */
  readonly atEnd: (undo: () => Promise<unknown>) => void
  /** Breaks the law when anything was left behind. */
  readonly expectClean: () => Promise<void>
  readonly close: () => Promise<void>
}

export interface StageOptions {
  readonly rows?: Readonly<Record<number, number>> | undefined
  readonly sabotage?: Sabotage | undefined
  readonly random: () => number
  readonly signal: AbortSignal
}

/** Makes the table, and gives what a law needs. */
export async function openStage(ground: Ground, options: StageOptions): Promise<Stage> {
  const { rows = {}, sabotage, random, signal } = options
  const { facts, command } = ground
  const { fixture } = facts.tools
  const run = randomBytes(4).toString('hex')
  const table = `law_${run}`
  const { keyOf, keys } = createKeys(run)
  const tables: string[] = [table]
  const undos: (() => Promise<unknown>)[] = []
  const tracer = createTracer()
  const scene = { facts, ground, table, tracer, random, signal, briefMs: 300, keyOf, expect }
  const cast = createCast(ground, { table, keyOf, sabotage })
  await command(fixture.create(table))
  for (const [id, n] of Object.entries(rows)) await command(fixture.insert(table, { id: Number(id), n }))
  return {
    ...scene,
    client: async (name, fault) => (await cast.member(name, fault)).client,
    actor: async (name) => (await cast.member(name)).actor,
    note: (actor, does, work) => (tracer.watch(actor, does, work), work),
    untilWaiting: (does, work, inServer = 0) =>
      untilWaiting(ground, { does, isSettled: settledOf(work), inServer }),
    addTable: async (suffix, create) => {
      const name = `${table}_${suffix}`
      await command(create(name))
      return (tables.push(name), name)
    },
    committed: async () => numbersIn(await readAgain(ground, () => command(fixture.all(table)))),
    atEnd: (undo) => void undos.push(undo),
    expectClean: async () => {
      const ids = Object.keys(rows).map(Number)
      await expectNothingHeld(ground, { table, ids, keys: [keyOf('anybody'), ...keys.values()] })
      await cast.expectSameSettings()
    },
    close: async () => {
      await cast.leave(undos)
      for (const name of tables) await command(fixture.drop(name))
    },
  }
}

/** The keys of one run, by the short names that a law has for them. */
function createKeys(run: string): {
  readonly keyOf: (name: string) => LockKey
  readonly keys: ReadonlyMap<string, LockKey>
} {
  const keys = new Map<string, LockKey>()
  const keyOf = (name: string): LockKey => {
    const key = keys.get(name) ?? [`law-${run}`, name]
    keys.set(name, key)
    return key
  }
  return { keyOf, keys }
}

function expect(isSo: boolean, otherwise: string): void {
  if (!isSo) throw new BrokenLawError(otherwise)
}

function numbersIn(rows: readonly Row[]): ReadonlyMap<number, number> {
  return new Map(rows.map(({ id, n }) => [Number(id), Number(n)]))
}

/** Whether a promise has ended by now. */
export function settledOf(work: Promise<unknown>): () => boolean {
  let isSettled = false
  const settle = (): void => void (isSettled = true)
  work.then(settle, settle)
  return () => isSettled
}
