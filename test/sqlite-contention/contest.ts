import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

import Database from 'better-sqlite3'

import { programOf } from '../engines/program.ts'
import type { Order, Part, Way, WorkerReport } from './worker.ts'

export interface Contest {
  readonly way: Way
  readonly file: string
  readonly processes: number
  readonly waiters: number
  readonly part: Part
  readonly thinkMs?: number
  readonly restMs?: number
}

export interface Outcome {
  readonly reports: readonly WorkerReport[]
  /** The value that every transaction has added one to. */
  readonly counter: number
  /** For each process, which of its waiters have added to it, one after another. */
  readonly turns: readonly (readonly string[])[]
}

/** Lets several processes write to one database file until each has done its part, all from the same moment on. */
export async function contest({ processes, ...order }: Contest): Promise<Outcome> {
  createTables(order.file)
  const workers = await Promise.all(Array.from({ length: processes }, () => startWorker(order)))
  const reports = await Promise.all(workers.map((go) => go()))
  const database = new Database(order.file, { readonly: true })
  const { n } = database.prepare('select n from counter').get() as { n: number }
  const journal = database.prepare('select waiter from journal order by n').pluck().all() as string[]
  database.close()
  const turns = new Map<string, string[]>()
  for (const waiter of journal) {
    const process = waiter.split('.')[0] ?? ''
    turns.set(process, [...(turns.get(process) ?? []), waiter])
  }
  return { reports, counter: n, turns: [...turns.values()] }
}

function createTables(file: string): void {
  const database = new Database(file)
  database.pragma('journal_mode = wal')
  database.exec('create table counter (n integer not null); insert into counter values (0)')
  database.exec('create table journal (waiter text not null, n integer not null)')
  database.close()
}

/** Starts a worker and waits until it is ready. Gives what lets it go. */
async function startWorker(order: Order): Promise<() => Promise<WorkerReport>> {
  const program = await programOf(new URL('worker.ts', import.meta.url))
  const child = spawn(process.execPath, [program, JSON.stringify(order)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const line = async (): Promise<string> => {
    const { value, done } = await lines.next()
    if (done === true) throw new Error('the worker ended without a word')
    return value
  }
  await line() // ready
  return async () => {
    child.stdin.write('go\n')
    return JSON.parse(await line()) as WorkerReport
  }
}
