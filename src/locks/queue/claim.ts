import { performance } from '../../core/clock.ts'
import { randomUUID } from 'node:crypto'

import { backoffMs } from '../../core/backoff.ts'
import { checkDuration, checkName, checkSignal, onlyKnown, show } from '../../core/check-field.ts'
import { pause } from '../../core/deadline.ts'
import { LockLostError, LockUsageError } from '../../core/errors.ts'
import type { Row } from '../../core/statement.ts'
import type { ClaimStatements, ClaimTerms, Counted, HeldClaim } from '../../dialects/claim.ts'
import { tellClaim } from '../../events/job-story.ts'
import { placeOf } from '../event-place.ts'
import { callQueue, sendCounted, type ClaimVisit } from './claim-call.ts'
import { endOptions } from './end-options.ts'
import { inOrder } from './claim-order.ts'
import { asStored, mustBeExact, readId } from './exact-id.ts'
import { readFailure } from '../failure.ts'
import { releaseFields, type Job, type JobKey, type JobOptions, type ReleaseOptions } from './job.ts'
import type { OpenTransaction, Port } from '../port.ts'
import { partOf } from '../transaction/part.ts'
import type { Queue } from './queue-definition.ts'
import { textOfTable } from './warn.ts'

/** How a claim is made. */
export interface ClaimOptions {
  /** How many jobs at most, up to 10,000. @default 1 */
  readonly limit?: number
  /** Who claims, for the column `claim.worker`. */
  readonly worker?: string
  /** For how long the claim keeps others away, and waits at most for those who are in its way. @default the queue's own */
  readonly visibilityMs?: number
  /** Ends the wait for an answer. Jobs that the server has given out by then come back when their time is over. */
  readonly signal?: AbortSignal
}

/** How many jobs came back. */
export interface Reclaimed {
  /** Free again, because their worker did not finish them in time. */
  readonly freed: number
  /** Claimed too often, and dead now. */
  readonly dead: number
}

/** What is needed to reach the queue's database. */
export interface ClaimPort<Tx> {
  readonly port: Port<Tx>
  /** The open transaction of a `tx`. */
  readonly find: (tx: Tx) => OpenTransaction<Tx>
  /** What wakes the workers of these locks, by the queue's table. */
  readonly wakers: Map<string, Set<() => void>>
  /** Queues whose unique index was seen. */
  readonly indexed: WeakSet<object>
}

const maxLimit = 10_000

/** Rows that one statement gives back: below the number at which SQL Server locks the whole table. */
const batch = 1000

/** Jobs, and when they were asked for: their time runs since then, by the monotonic clock. */
export interface Taken<R extends object> {
  readonly jobs: readonly Job<R>[]
  readonly sentAt: number
}

/** What is asked for, and by whom. */
export interface ClaimAsk {
  readonly options: ClaimOptions | undefined
  /** Ends the wait for a connection. */
  readonly stopped?: AbortSignal
}

/** Claims jobs: each goes to one caller only, in the queue's order. Gives none when none is free. */
export async function claim<Tx, R extends object>(
  claims: ClaimPort<Tx>,
  queue: Queue<R>,
  { options = {}, stopped }: ClaimAsk,
): Promise<Taken<R>> {
  const { signal, ...terms } = checkOptions(options, queue)
  for (let miss = 1; ; miss += 1) {
    const token = randomUUID()
    let sentAt = 0
    const rows = await callQueue(claims.port, {
      queue,
      signal,
      stopped,
      visibilityMs: terms.visibilityMs,
      work: (visit) => {
        sentAt = performance.now()
        return take(visit, queue, { ...terms, token })
      },
    })
    if (rows !== 'missed') {
      tellClaim(() => ({ ...placeOf(claims.port), queue: textOfTable(queue.shape.table), jobs: rows.length }))
      return { jobs: rows.map((taken) => jobOf(claims, queue, taken)), sentAt }
    }
    await pause(backoffMs(miss, { baseMs: 2, capMs: 50 }), undefined, signal)
  }
}

/** `missed` when there were jobs and others were faster. */
async function take<R extends object>(
  { session, claiming, version }: ClaimVisit,
  { shape }: Queue<R>,
  terms: ClaimTerms,
): Promise<readonly TakenRow[] | 'missed'> {
  const { steps, arrange } = claiming.take(shape, terms, version)
  let seen: readonly Row[] | undefined
  let rows: readonly Row[] = []
  for (const step of steps) {
    if (typeof step === 'function' && seen?.length === 0) return []
    rows = await session.run(typeof step === 'function' ? step(seen ?? []) : step)
    seen ??= rows
  }
  if (rows.length === 0 && steps.some((step) => typeof step === 'function')) return 'missed'
  const idOf = (row: Row): unknown => readId(row, shape.id, claiming)
  const ordered = await inOrder(rows, shape, { session, arrange, idOf })
  const { token } = terms
  return ordered.map((row) => {
    const id = checkId(idOf(row), shape.id)
    return { row: asStored(row, claiming), id, token }
  })
}

/** Ends a job. Rejects with {@link LockLostError} when it is no longer this claim's. */
export function complete<Tx, R extends object>(
  claims: ClaimPort<Tx>,
  queue: Queue<R>,
  job: JobKey & JobOptions,
): Promise<void> {
  return endClaim(claims, queue, {
    job,
    change: ({ complete: end }, held) => end(queue.shape, held, queue.done),
  })
}

/** Gives a job back before its time is over. Rejects with {@link LockLostError} when it is no longer this claim's. */
export async function release<Tx, R extends object>(
  claims: ClaimPort<Tx>,
  queue: Queue<R>,
  { delayMs = 0, ...job }: JobKey & ReleaseOptions,
): Promise<void> {
  const delay = delayMs === 0 ? 0 : checkDuration('delayMs', delayMs)
  await endClaim(claims, queue, {
    job,
    change: (statements, held) => statements.release(queue.shape, held, delay),
  })
}

/** Gives a job back of which nothing was begun: the claim is not counted among its attempts. */
export function unclaim<Tx>(claims: ClaimPort<Tx>, queue: Queue<object>, job: JobKey): Promise<void> {
  const change: EndOfClaim['change'] = (statements, held) => statements.unclaim(queue.shape, held)
  return endClaim(claims, queue, { job: { id: job.id, token: job.token }, change })
}

/** Keeps others away from a job for this long from now. */
export async function extend<Tx, R extends object>(
  claims: ClaimPort<Tx>,
  queue: Queue<R>,
  { visibilityMs = queue.visibilityMs, ...job }: JobKey & { readonly visibilityMs?: number | undefined },
): Promise<void> {
  const ms = checkDuration('visibilityMs', visibilityMs)
  await endClaim(claims, queue, {
    job,
    change: (statements, held) => statements.extend(queue.shape, held, ms),
  })
}

/** Frees the jobs of workers that did not finish in time, and puts aside those that were claimed too often. */
export async function reclaim<Tx, R extends object>(
  { port }: ClaimPort<Tx>,
  queue: Queue<R>,
  stopped?: AbortSignal,
): Promise<Reclaimed> {
  const { shape, dead: set } = queue
  const repeat = async (change: (visit: ClaimVisit) => Counted): Promise<number> => {
    for (let total = 0; ;) {
      const work = (visit: ClaimVisit): Promise<number> => sendCounted(visit.session, change(visit))
      const count = await callQueue(port, { queue, work, stopped })
      total += count
      if (count < batch) return total
    }
  }
  const dead =
    set === undefined
      ? 0
      : await repeat(({ claiming, version }) => claiming.bury(shape, { set, limit: batch }, version))
  const freed = await repeat(({ claiming, version }) => claiming.giveBack(shape, batch, version))
  return { freed, dead }
}

interface EndOfClaim {
  readonly job: JobKey & JobOptions
  readonly change: (statements: ClaimStatements, held: HeldClaim) => Counted
}

async function endClaim<Tx>(
  { port, find }: ClaimPort<Tx>,
  queue: Queue<object>,
  { job, change }: EndOfClaim,
): Promise<void> {
  const held: HeldClaim = {
    id: mustBeExact('job.id', job.id),
    token: checkName('job.token', job.token),
    ...(job.tx !== undefined && { inTransaction: true }),
  }
  const send = ({ session, claiming }: ClaimVisit): Promise<number> =>
    sendCounted(session, change(claiming, held))
  const check = (count: number): void => {
    if (count > 0) return
    throw new LockLostError(
      `the job ${show(job.id)} is no longer this claim's: its time was over, or it has ended`,
    )
  }
  if (job.tx === undefined) return check(await callQueue(port, { queue, work: send }))
  const open = find(job.tx as Tx)
  await partOf(open, () => inTransaction(open, send).then(check))
}

/** A part of the caller's transaction is not repeated: all of it would have to be. */
export async function inTransaction<Tx, T>(
  open: OpenTransaction<Tx>,
  send: (visit: ClaimVisit) => Promise<T>,
): Promise<T> {
  try {
    const { session, dialect, version } = open
    return await dialect.claim((claiming) => send({ session, dialect, version, claiming }))
  } catch (error) {
    throw readFailure(error, open.dialect).error
  }
}

interface TakenRow extends JobKey {
  readonly row: Row
}

function jobOf<Tx, R extends object>(
  claims: ClaimPort<Tx>,
  queue: Queue<R>,
  { row, id, token }: TakenRow,
): Job<R> {
  const { attempts } = queue.shape
  // made for every job of a large batch: a spread here costs more than all the rest of the claim
  return {
    row: row as R,
    id,
    token,
    attempts: attempts === undefined ? undefined : Number(row[attempts]),
    complete: async (options) => complete(claims, queue, { ...endOptions(claims, options), id, token }),
    release: async (options) =>
      release(claims, queue, { ...endOptions(claims, options, releaseFields), id, token }),
    extend: (visibilityMs) => extend(claims, queue, { id, token, visibilityMs }),
  }
}

function checkId(id: unknown, column: string): unknown {
  if (id !== undefined && id !== null) return mustBeExact('id', id)
  throw new LockUsageError('id', `a row without ${column} was claimed: its claim cannot be ended`)
}

function checkOptions(
  options: ClaimOptions,
  queue: Queue<object>,
): Omit<ClaimTerms, 'token'> & { readonly signal: AbortSignal | undefined } {
  onlyKnown(options, ['limit', 'worker', 'visibilityMs', 'signal'])
  const { limit = 1, worker, visibilityMs = queue.visibilityMs, signal } = options
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > maxLimit)
    throw new LockUsageError('limit', `${show(limit)} is not a whole number from 1 to ${maxLimit}`)
  if (worker !== undefined) checkName('worker', worker)
  checkSignal(signal)
  return { limit, worker, visibilityMs: checkDuration('visibilityMs', visibilityMs), signal }
}
