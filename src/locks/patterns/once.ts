import { inWords } from '../../core/in-words.ts'
import { checkWork } from '../../core/check-field.ts'
import { deadlineIn, type Deadline } from '../../core/deadline.ts'
import { LockError, LockUsageError } from '../../core/errors.ts'
import { canonicalKey, isRawKey, type LockKey } from '../../core/key.ts'
import { reached } from '../../core/on-demand.ts'
import type { Statement } from '../../core/statement.ts'
import type { OnceStatements } from '../../dialects/once.ts'
import { LockContention } from '../contention.ts'
import { readFailure } from '../failure.ts'
import type { OpenTransaction } from '../port.ts'
import { partOf, stepsOf } from '../transaction/part.ts'

/** What the work gave, or that it was done before. */
export type OnceResult<T> = { readonly isFirst: true; readonly value: T } | { readonly isFirst: false }

/**
 * Runs `work` in the caller's transaction, unless a transaction that was committed has done so under the same key.
 *
 * The work and the mark that it was done are stored together or not at all, so what `work` throws ends the transaction,
 * also where it is caught. While another transaction is at work under the key, this one waits for its end, or is repeated.
 */
export type Once<Tx> = <T>(tx: Tx, key: LockKey, work: (tx: Tx) => Promise<T>) => Promise<OnceResult<T>>

export interface OncePort<Tx> {
  readonly find: (tx: Tx) => OpenTransaction<Tx>
}

export function createOnce<Tx>({ find }: OncePort<Tx>): Once<Tx> {
  const table = new MarkTable()
  return async (tx, key, work) => {
    const open = find(tx)
    const name = nameOf(key)
    checkWork(work)
    if (open.access === 'read-only')
      throw new LockUsageError('access', 'a read-only transaction cannot note what it did')
    const doing = async (): ReturnType<typeof work> => work(tx)
    return stepsOf(open, async () => {
      const isFirst = await partOf(open, () => mark(open, name, table))
      return isFirst ? { isFirst, value: await orNothing(open, doing()) } : { isFirst }
    })
  }
}

/** The mark is there already: once the work has failed, COMMIT would store that it was done. */
function orNothing<T>(open: OpenTransaction<unknown>, work: Promise<T>): Promise<T> {
  // whether or not the body catches the error
  work.catch((why: unknown) => (open.doom ??= { why }))
  return work
}

function nameOf(key: LockKey): string {
  if (key === undefined || key === null) throw new LockUsageError('key', 'once needs a key')
  if (!isRawKey(key)) return canonicalKey(key).name
  throw new LockUsageError(
    'key',
    `is in an engine's own form (${key.raw}), which names a lock; use a plain key`,
  )
}

async function mark(open: OpenTransaction<unknown>, name: string, table: MarkTable): Promise<boolean> {
  const once = await reached(open.dialect.once)
  for (let isMade = false; ; isMade = true) {
    try {
      const isFirst = once.isFirst(await sendMark(open, once, name))
      table.isThere()
      return isFirst
    } catch (error) {
      const { kind, error: meant } = readFailure(error, open.dialect)
      const refusal = once.refusals[kind]
      if (refusal === 'done') return false
      if (refusal === 'held') throw new LockContention(undefined, error)
      // one that was not locked could not be used either if it were made
      if (isMade || open.isConfined || kind !== 'other' || meant instanceof LockError) throw meant
      await table.make(open, once, error)
    }
  }
}

async function sendMark(
  { session }: OpenTransaction<unknown>,
  once: OnceStatements,
  name: string,
): ReturnType<typeof session.run> {
  if (once.guard !== undefined && (await session.run(once.guard(name))).length === 0)
    throw new Error('the table _once has not been made')
  return session.run(once.mark(name))
}

const isMissing = 'the table _once is missing: the transaction is repeated once it has been made'

/** How long a table that is missing is made again and again: another may be making it, or have dropped it. */
const patienceMs = 5000

/** The table of marks, made only when it turns out to be missing: a role that may not make tables need not. */
class MarkTable {
  #patience: Deadline | undefined

  isThere(): void {
    this.#patience = undefined
  }

  /**
   * Makes it in the transaction where that is alone in the database. Elsewhere the transaction is given up, and the
   * table is made on its connection: a pool may have no other to spare.
   */
  async make(open: OpenTransaction<unknown>, { schema }: OnceStatements, missing: unknown): Promise<void> {
    const { session, dialect, atEnd } = open
    this.#patience ??= deadlineIn(patienceMs)
    if (this.#patience.isPast()) throw cannotBeMade(dialect.name, missing)
    if (dialect.transaction.writeMode === undefined) {
      // sent in the opposite order
      atEnd.push(...schema.map(withoutLock).toReversed())
      throw new LockContention(undefined, missing, isMissing)
    }
    for (const statement of schema) await session.run(statement)
  }
}

/** Of what is sent when the transaction is over, each is asked whether it has released a lock; this one has none. */
function withoutLock(statement: Statement): Statement {
  return { ...statement, answers: { column: 'made', meaning: { none: 'released', '*': 'released' } } }
}

function cannotBeMade(dialect: string, cause: unknown): LockUsageError {
  return new LockUsageError(
    'schema',
    `what is done once cannot be noted (${inWords(cause)}), and making the table _once does not help: ` +
      `run what \`holdfast schema ${dialect}\` prints, with the right to do so`,
    { cause },
  )
}
