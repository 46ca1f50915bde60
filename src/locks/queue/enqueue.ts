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
import { readId } from './exact-id.ts'
import { mustBeSendable, newRowsOf } from './new-jobs.ts'
import type { Queue } from './queue-definition.ts'
import { mustHaveIndex } from './unique-index.ts'
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

/** How often a race for one key is run again before something else is taken to be wrong. */
const rounds = 5

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
    const send = (isHeld: boolean): Promise<Enqueued> => storeAll(visit, { queue, groups, isHeld })
    const storing = isOneStep(visit, groups) ? send(false) : inOwnTransaction(visit, () => send(true))
    return storing.catch((error: unknown) => {
      throw (races += 1) < rounds ? asRace(visit, error) : error
    })
  }
  const done = await callQueue(claims.port, { queue, work })
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
    return storeAll(visit, { queue, groups, isHeld: true }).catch((error: unknown) => {
      throw asRace(visit, error)
    })
  })
  if (done.stored.length > 0) await announce(claims, queue, { tx: open.session.tx })
  return done
}

/** With the statements of its dialect. */
export interface EnqueueVisit extends ClaimVisit {
  readonly statements: EnqueueStatements
}

async function visitOf({ session, dialect, version }: ClaimVisit): Promise<EnqueueVisit> {
  const statements = await dialect.enqueue?.()
  if (statements === undefined)
    throw new LockUsageError('dialect', `${dialect.name} does not say how jobs are stored`)
  return { session, dialect, version, statements }
}

/** Where two who store the same are told of it by an error that ends their transaction, it has to be run again. */
function asRace({ dialect, statements }: EnqueueVisit, error: unknown): unknown {
  if (readFailure(error, dialect).kind !== 'unique-violation') return error
  if (statements.canCollide !== true) return error
  const words = 'another has stored the same job at the same time: run the transaction again'
  return new RetryableTransactionError('write-conflict', words, { cause: error })
}

/** Whether one statement does it all, and a second is needed only when that has stored nothing. */
function isOneStep({ statements }: EnqueueVisit, [first, ...more]: readonly NewRows[]): boolean {
  if (first === undefined || more.length > 0) return false
  return !first.isUnique || (first.rows.length === 1 && statements.stored !== undefined)
}

interface StoringHeld extends Storing {
  /** Whether this is a transaction, and jobs that are there must not be claimed before it ends. */
  readonly isHeld: boolean
}

/** Ids by their text. */
type Ids = Map<string, unknown>

interface Tally extends EnqueueVisit {
  readonly queue: Queue<object>
  readonly isHeld: boolean
  readonly plain: unknown[]
  readonly stored: Ids
  readonly existing: Ids
}

async function storeAll(visit: EnqueueVisit, { queue, groups, isHeld }: StoringHeld): Promise<Enqueued> {
  mustBeSendable(visit.statements, groups)
  const tally: Tally = { ...visit, queue, isHeld, plain: [], stored: new Map(), existing: new Map() }
  for (const jobs of groups) await (jobs.isUnique ? storeUnique(tally, jobs) : storePlain(tally, jobs))
  return { stored: [...tally.plain, ...tally.stored.values()], existing: [...tally.existing.values()] }
}

async function storePlain(tally: Tally, jobs: NewRows): Promise<void> {
  const { session, dialect, queue, statements } = tally
  const { insert, stored } = statements
  const rows = await session.run(insert(queue.shape, jobs))
  const ids = stored?.(rows, queue.shape).map((row) => readId(row, queue.shape.id, dialect.claim)) ?? []
  const at = jobs.columns.indexOf(queue.shape.id)
  tally.plain.push(...jobs.rows.map((row, index) => ids[index] ?? row[at]))
}

/** Many at once, and one by one only where that does not tell what became of each. */
async function storeUnique(tally: Tally, jobs: NewRows): Promise<void> {
  const count = jobs.rows.length
  if (count === 1) return storeOne(tally, jobs)
  const inserted = await tryInsert(tally, jobs)
  if (!('refusal' in inserted)) {
    note(tally.stored, inserted.ids)
    if (inserted.ids.length === count) return
    const found = await findIds(tally, jobs)
    const others = found.filter((id) => !tally.stored.has(textOf(id)))
    note(tally.existing, others)
    if (inserted.ids.length + others.length === count) return
  }
  for (const row of jobs.rows) await storeOne(tally, { ...jobs, rows: [row] })
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
  const { session, dialect, queue, statements } = tally
  const { insert, stored } = statements
  let rows: readonly Row[]
  try {
    rows = await session.run(insert(queue.shape, jobs))
  } catch (error) {
    const { kind, transaction } = readFailure(error, dialect)
    if (kind === 'unique-violation' && transaction === 'open') return { refusal: error }
    throw error
  }
  if (stored === undefined) return { ids: await findIds(tally, jobs) }
  const at = jobs.columns.indexOf(queue.shape.id)
  const [first] = jobs.rows
  // a lone row's id may be known only here
  const idOf = (row: Row): unknown =>
    readId(row, queue.shape.id, dialect.claim) ?? (jobs.rows.length === 1 ? first?.[at] : undefined)
  return { ids: stored(rows, queue.shape).map(idOf) }
}

async function findIds(tally: Tally, jobs: NewRows): Promise<readonly unknown[]> {
  const { session, dialect, queue, isHeld, statements } = tally
  const at = jobs.columns.indexOf(queue.shape.unique ?? '')
  const keys = jobs.rows.map((row) => row[at])
  const rows = await sendTogether(session, statements.find(queue.shape, keys, isHeld))
  return rows.map((row) => readId(row, queue.shape.id, dialect.claim))
}

function note(ids: Ids, found: readonly unknown[]): void {
  for (const id of found) ids.set(textOf(id), id)
}
