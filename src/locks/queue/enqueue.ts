import { RetryableTransactionError, LockUsageError } from '../../core/errors.ts'
import type { Row } from '../../core/statement.ts'
import type { EnqueueStatements, NewRows } from '../../dialects/enqueue.ts'
import { readFailure } from '../failure.ts'
import type { OpenTransaction } from '../port.ts'
import { sendTogether } from '../send-together.ts'
import { announce } from './announce.ts'
import { callQueue, type ClaimVisit } from './claim-call.ts'
import { inTransaction, type ClaimPort } from './claim.ts'
import { inOwnTransaction, textOf } from './complete-all.ts'
import { mustBeExact, readId } from './exact-id.ts'
import { newRowsOf, sendable } from './new-jobs.ts'
import type { Queue } from './queue-definition.ts'
import { missing, mustHaveIndex } from './unique-index.ts'
import { textOfTable } from './warn.ts'

/** How jobs are stored. */
export interface EnqueueOptions<Tx = unknown> {
  /** An open transaction of the same locks: the jobs are there when it commits, together with what it has stored. */
  readonly tx?: Tx
}

/** What became of new jobs. */
export interface Enqueued {
  /** The ids of the jobs that were stored. Undefined for one whose id neither you nor the database has told. */
  readonly stored: readonly unknown[]
  /** The ids of the jobs that were there already, and that nobody had claimed. */
  readonly existing: readonly unknown[]
}

/** What is to be stored, and as a part of what. */
export interface NewJobs<Tx> {
  readonly jobs: readonly Row[]
  readonly open: OpenTransaction<Tx> | undefined
}

/** How often one job is tried again before something else is taken to be wrong. */
const rounds = 5

/** The same of a call that lost against others who store the same: there each loss ends all of it. */
const maxRaces = 15

/** Stores jobs, and wakes workers. Those whose key is there, not claimed yet, are not stored again. */
export async function enqueue<Tx>(
  claims: ClaimPort<Tx>,
  queue: Queue<object>,
  { jobs, open }: NewJobs<Tx>,
): Promise<Enqueued> {
  const groups = newRowsOf(queue, jobs)
  if (groups.length === 0) return { stored: [], existing: [] }
  if (open !== undefined) return enqueueIn(claims, open, { queue, groups })
  let races = 0
  const work = async (server: ClaimVisit): Promise<Enqueued> => {
    const visit = await visitOf(server)
    await mustHaveIndex(claims, visit, { queue, groups })
    // jobs that are there may be claimed at once: whoever does so sees all that was stored before this call
    const send = (): Promise<Enqueued> => storeAll(tallyOf(visit, queue, false), groups)
    const storing = isOneStep(visit, groups) ? send() : inOwnTransaction(visit, send)
    return storing.catch((error: unknown) => {
      throw (races += 1) < maxRaces ? asRace(visit, groups, error) : error
    })
  }
  const columns = groups.flatMap((group) => group.columns)
  const done = await callQueue(claims.port, { queue, columns, work })
  // the jobs are stored: workers that do not hear of them look for them all the same
  if (done.stored.length > 0) await announce(claims, queue, {}).catch(() => {})
  return done
}

interface Storing {
  readonly queue: Queue<object>
  readonly groups: readonly NewRows[]
}

async function enqueueIn<Tx>(
  claims: ClaimPort<Tx>,
  open: OpenTransaction<Tx>,
  { queue, groups }: Storing,
): Promise<Enqueued> {
  const done = await inTransaction(open, async (server) => {
    const visit = await visitOf(server)
    await mustHaveIndex(claims, visit, { queue, groups, isInTransaction: true })
    const tally = tallyOf(visit, queue, true)
    return storeAll(tally, groups).catch((error: unknown) => {
      // whoever catches this must not commit the half of it
      if (tally.isBegun) open.doom ??= { why: error }
      throw asRace(visit, groups, error)
    })
  })
  if (done.stored.length > 0) await announce(claims, queue, { tx: open.session.tx })
  return done
}

/** With the statements of its dialect. */
export interface EnqueueVisit extends ClaimVisit {
  readonly statements: EnqueueStatements
}

async function visitOf({ session, dialect, version, claiming }: ClaimVisit): Promise<EnqueueVisit> {
  const statements = await dialect.enqueue?.()
  if (statements === undefined)
    throw new LockUsageError('dialect', `${dialect.name} does not say how jobs are stored`)
  return { session, dialect, version, claiming, statements }
}

/** Where two who store the same are told of it by an error that ends their transaction, it has to be run again. */
function asRace({ dialect, statements }: EnqueueVisit, groups: readonly NewRows[], error: unknown): unknown {
  if (readFailure(error, dialect).kind !== 'unique-violation') return error
  if (statements.canCollide !== true || groups.every(({ isUnique }) => !isUnique)) return error
  const words = 'another has stored the same job at the same time: run the transaction again'
  return new RetryableTransactionError('write-conflict', words, { cause: error })
}

/** Whether one statement does it all, and a second is needed only when that has stored nothing. */
function isOneStep({ statements }: EnqueueVisit, [first, ...more]: readonly NewRows[]): boolean {
  if (first === undefined || more.length > 0) return false
  return !first.isUnique || (first.rows.length === 1 && statements.stored !== undefined)
}

/** Ids by their text. */
type Ids = Map<string, unknown>

interface Tally extends EnqueueVisit {
  readonly queue: Queue<object>
  /** Whether this is a transaction of the caller, and jobs that are there must not be claimed before it ends. */
  readonly isHeld: boolean
  readonly plain: unknown[]
  readonly stored: Ids
  readonly existing: Ids
  /** Whether some may be stored already. */
  isBegun: boolean
}

function tallyOf(visit: EnqueueVisit, queue: Queue<object>, isHeld: boolean): Tally {
  return { ...visit, queue, isHeld, plain: [], stored: new Map(), existing: new Map(), isBegun: false }
}

async function storeAll(tally: Tally, groups: readonly NewRows[]): Promise<Enqueued> {
  for (const jobs of sendable(tally.statements, tally.queue, groups))
    await (jobs.isUnique ? storeUnique(tally, jobs) : storePlain(tally, jobs))
  return { stored: [...tally.plain, ...tally.stored.values()], existing: [...tally.existing.values()] }
}

/** What was stored, where the engine tells it. */
async function insertInto(tally: Tally, jobs: NewRows): Promise<readonly Row[] | undefined> {
  const { session, queue, statements } = tally
  const answer = await session.run(statements.insert(queue.shape, jobs))
  const rows = statements.stored?.(answer, queue.shape, jobs)
  tally.isBegun ||= rows === undefined || rows.length > 0
  return rows
}

async function storePlain(tally: Tally, jobs: NewRows): Promise<void> {
  const rows = (await insertInto(tally, jobs)) ?? []
  const ids = rows.map((row) => idIn(tally, row))
  const at = jobs.columns.indexOf(tally.queue.shape.id)
  tally.plain.push(...jobs.rows.map((row, index) => ids[index] ?? row[at]))
}

/** Many at once, and fewer at once only where that does not tell what became of each. */
async function storeUnique(tally: Tally, jobs: NewRows): Promise<void> {
  const count = jobs.rows.length
  if (count === 1) return storeOne(tally, jobs)
  const inserted = await tryInsert(tally, jobs)
  if (!('refusal' in inserted)) {
    note(tally.stored, inserted.ids)
    if (inserted.ids.length === count) return
    const found = await findIds(tally, jobs)
    const others = found.filter((id) => !tally.stored.has(textOf(id)))
    if (inserted.ids.length + others.length === count) return note(tally.existing, others)
  }
  for (const rows of partsOf(jobs.rows)) await storeUnique(tally, { ...jobs, rows })
}

/** Eight: those among which is none that is there cost one statement, and if all are there few are sent in vain. */
function partsOf<T>(rows: readonly T[]): readonly (readonly T[])[] {
  const size = Math.ceil(rows.length / 8)
  return Array.from({ length: Math.ceil(rows.length / size) }, (_, part) =>
    rows.slice(part * size, (part + 1) * size),
  )
}

/** One that is there may be claimed before it is looked at: then it is to be stored after all. */
async function storeOne(tally: Tally, job: NewRows): Promise<void> {
  for (let round = 1; round <= rounds; round += 1) {
    const inserted = await tryInsert(tally, job)
    if ('ids' in inserted && inserted.ids.length > 0) return note(tally.stored, inserted.ids)
    const found = await findIds(tally, job)
    if (found.length > 0)
      return note(
        tally.existing,
        found.filter((id) => !tally.stored.has(textOf(id))),
      )
    // another of the table's indexes
    if ('refusal' in inserted) throw inserted.refusal
  }
  const { table, unique } = tally.queue.shape
  throw new LockUsageError(
    'job',
    `a row of ${textOfTable(table)} has this ${unique} and does not wait to be claimed: empty its ${unique}, or the job is never stored`,
  )
}

type Inserted = { readonly ids: readonly unknown[] } | { readonly refusal: unknown }

async function tryInsert(tally: Tally, jobs: NewRows): Promise<Inserted> {
  let rows: readonly Row[] | undefined
  try {
    rows = await insertInto(tally, jobs)
  } catch (error) {
    const { kind, transaction } = readFailure(error, tally.dialect)
    if (kind === 'unique-violation' && transaction === 'open') return { refusal: error }
    throw error
  }
  return { ids: rows?.map((row) => idIn(tally, row)) ?? (await findIds(tally, jobs)) }
}

async function findIds(tally: Tally, jobs: NewRows): Promise<readonly unknown[]> {
  const { session, queue, isHeld, statements } = tally
  const at = jobs.columns.indexOf(queue.shape.unique ?? '')
  const keys = jobs.rows.map((row) => row[at])
  const rows = await sendTogether(session, statements.find(queue.shape, keys, isHeld))
  const index = statements.index?.(queue.shape)
  // somebody has dropped it since it was seen
  if (rows.length > keys.length && index !== undefined) throw missing(queue, index)
  return rows.map((row) => idIn(tally, row))
}

/** Two ids that are rounded to one would be one job. */
function idIn({ claiming, queue }: Tally, row: Row): unknown {
  return mustBeExact('id', readId(row, queue.shape.id, claiming))
}

function note(ids: Ids, found: readonly unknown[]): void {
  for (const id of found) ids.set(textOf(id), id)
}
