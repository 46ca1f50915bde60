import { once } from 'node:events'
import { setImmediate as nextRound, setTimeout as delay } from 'node:timers/promises'

import Database from 'better-sqlite3'

import { createLocks } from '../../src/entries/better-sqlite3.ts'
import { watchEventLoop, type Gaps } from './gaps.ts'
import { watchSent, type Sent } from './sent.ts'

/**
 * How a worker writes. `handles`: our locks, a handle for each transaction. `handle`: our locks, one handle for all.
 * `by-hand`: no locks of ours, but `busy_timeout`.
 */
export type Way = 'handles' | 'handle' | 'by-hand'

/** When a waiter has done its part: after some time, or after some transactions. */
export type Part = { readonly windowMs: number } | { readonly each: number }

export interface Order {
  readonly file: string
  readonly way: Way
  readonly waiters: number
  readonly part: Part
  /** What a transaction waits for between reading and writing, as one does that asks somebody else. @default 0 */
  readonly thinkMs?: number
  /** What a waiter does between two transactions. @default 0, not even the next round of the event loop */
  readonly restMs?: number
}

export interface WorkerReport {
  /** Transactions that each waiter has finished. */
  readonly finished: readonly number[]
  /** The longest time that any one transaction took, its wait included. */
  readonly longestMs: number
  readonly sent: Sent
  /** What was repeated, or failed, and why. */
  readonly failures: readonly string[]
  readonly gaps: Gaps
  /** What the application's handle says afterwards. */
  readonly busyTimeoutMs: number
}

const order = JSON.parse(process.argv[2] ?? '') as Order
const failures: string[] = []
const { onHandle, seen } = watchSent()

function open(): Database.Database {
  const database = new Database(order.file, { timeout: 5000, verbose: onHandle(5000) })
  database.pragma('synchronous = full') // the lock is held until the disk has answered
  return database
}

/** The work: it loses an update if any two of these overlap. */
async function increment(database: Database.Database, waiter: string): Promise<void> {
  const { n } = database.prepare('select n from counter').get() as { n: number }
  if (order.thinkMs !== undefined && order.thinkMs > 0) await delay(order.thinkMs)
  database.prepare('update counter set n = ?').run(n + 1)
  database.prepare('insert into journal (waiter, n) values (?, ?)').run(waiter, n + 1)
}

type Transact = (waiter: string) => Promise<void>

function byLocks(source: Database.Database | (() => Database.Database)): Transact {
  const locks = createLocks(source)
  const onRetry = ({ kind }: { kind: string }): void => void failures.push(kind)
  return (waiter) => locks.transaction((tx) => increment(tx, waiter), { onRetry })
}

/** What an application writes that trusts `busy_timeout`. */
function byHand(): Transact {
  const database = open()
  return async (waiter) => {
    await nextRound()
    database.exec('BEGIN IMMEDIATE')
    await increment(database, waiter)
    database.exec('COMMIT')
  }
}

async function work(transact: Transact, waiter: string): Promise<{ finished: number; longestMs: number }> {
  let finished = 0
  let longestMs = 0
  const isDone = doneWith(order.part)
  for (let now = performance.now(); !isDone(now); now = performance.now()) {
    await transact(waiter).then(
      () => (finished += 1),
      (error: unknown) => failures.push(String(error)),
    )
    longestMs = Math.max(longestMs, performance.now() - now)
    if (order.restMs !== undefined && order.restMs > 0) await delay(order.restMs)
  }
  return { finished, longestMs }
}

function doneWith(part: Part): (now: number) => boolean {
  if ('each' in part) {
    let begun = 0
    return () => (begun += 1) > part.each
  }
  const end = performance.now() + part.windowMs
  return (now) => now >= end
}

// An application reads as well. Without a connection that stays, the last one to close would tidy the file up each time.
const application = open()
application.prepare('select n from counter').get()
const ways: Record<Way, () => Transact> = {
  handles: () => byLocks(open),
  handle: () => byLocks(application),
  'by-hand': byHand,
}
const transact = ways[order.way]()
process.stdout.write('ready\n')
await once(process.stdin, 'data')
const stop = watchEventLoop()
const names = Array.from({ length: order.waiters }, (_, index) => `${process.pid}.${index}`)
const results = await Promise.all(names.map((name) => work(transact, name)))
const report: WorkerReport = {
  finished: results.map(({ finished }) => finished),
  longestMs: Math.max(...results.map(({ longestMs }) => longestMs)),
  sent: seen(),
  failures,
  gaps: stop(),
  busyTimeoutMs: application.pragma('busy_timeout', { simple: true }) as number,
}
application.close()
process.stdout.write(`${JSON.stringify(report)}\n`)
process.stdin.destroy()
