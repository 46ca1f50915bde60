import type { TransactionOptions } from '../locks/transaction/options.ts'
import { BrokenLawError } from './broken-law.ts'
import type { Stage } from './stage.ts'
import type { Client, Fault } from './subject.ts'

/** A client that changes the numbers of a law's table in transactions. */
export interface Writer {
  readonly client: Client
  /** Runs a transaction, and writes down what it does. */
  readonly transaction: <T>(
    does: string,
    work: (tx: object) => Promise<T>,
    options?: TransactionOptions,
  ) => Promise<T>
  readonly read: (tx: object, id: number) => Promise<number>
  readonly write: (tx: object, id: number, n: number) => Promise<void>
  readonly add: (tx: object, id: number, by?: number) => Promise<void>
  readonly insert: (tx: object, id: number, n: number) => Promise<void>
  /** Locks a row. Gives its number. */
  readonly lock: (tx: object, id: number) => Promise<number>
}

export async function writerOf(stage: Stage, name: string, fault?: Fault): Promise<Writer> {
  const client = await stage.client(name, fault)
  const { fixture } = stage.facts.tools
  const { table } = stage
  return {
    client,
    transaction: (does, work, options) =>
      stage.note(name, does, client.locks.transaction(work, { signal: stage.signal, ...options })),
    read: async (tx, id) => {
      const [row] = await client.run(tx, fixture.read(table, id))
      return Number(row?.n)
    },
    write: async (tx, id, n) => void (await client.run(tx, fixture.write(table, id, n))),
    add: async (tx, id, by = 1) => void (await client.run(tx, fixture.add(table, id, by))),
    insert: async (tx, id, n) => void (await client.run(tx, fixture.insert(table, { id, n }))),
    lock: async (tx, id) => {
      const [row] = await client.locks.rows(tx, fixture.target(table, id))
      return Number(row?.n)
    },
  }
}

/** What this rejects with. The law is broken when it does not. */
export async function rejectionOf(does: string, work: Promise<unknown>): Promise<unknown> {
  const outcome = await work.then(
    () => undefined,
    (error: unknown) => ({ error }),
  )
  if (outcome === undefined) throw new BrokenLawError(`${does}: went through, and should have failed`)
  // what breaks the law inside of the work is not what the work was to fail with
  if (outcome.error instanceof BrokenLawError) throw outcome.error
  return outcome.error
}
