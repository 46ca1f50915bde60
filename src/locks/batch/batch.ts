import { LockUsageError } from '../../core/errors.ts'
import type { Row, SqlStatement } from '../../core/statement.ts'
import type { DeclaredTraits, ExpectedRows } from '../../dialects/declared.ts'
import type { Dialect } from '../../dialects/dialect.ts'
import type { WholeCourse } from '../../core/session.ts'
import { objectionTo } from '../../events/objection.ts'
import { theLock, type PlannedOpening } from '../named/opening.ts'
import type { Whole } from '../transaction/job.ts'
import { storedWhole } from './stored-whole.ts'
import { take } from '../take.ts'
import type { OpenTransaction, Server } from '../port.ts'
import { sendTogether } from '../send-together.ts'
import type { CheckedStatement } from './statement.ts'

type Answers = readonly (readonly Row[])[]

/** A statement has given or changed other rows than it was to: the transaction is rolled back for that. */
class GuardError extends Error {
  override readonly name = 'GuardError'
}

/** Sends the statements one by one, and stops at the first whose rows are not as expected. */
export async function sendEach(
  open: OpenTransaction<unknown>,
  statements: readonly CheckedStatement[],
): Promise<Answers> {
  const traits = await traitsOf(open)
  const answers: (readonly Row[])[] = []
  for (const statement of statements) answers.push(await send(open, statement, traits))
  return answers
}

async function send(
  { session }: OpenTransaction<unknown>,
  { sql, params, expected, returns }: CheckedStatement,
  { counted }: DeclaredTraits,
): Promise<readonly Row[]> {
  if (expected === undefined || returns) {
    const rows = await session.run({ sql, params })
    if (expected !== undefined) mustBe(rows.length, expected)
    return returns ? rows : []
  }
  // a comment at its end would swallow what is put there on the same line
  const { statements, count } = counted({ sql: `${sql}\n`, params })
  mustBe(count(await sendTogether(session, statements)), expected)
  return []
}

function mustBe(count: number, { least, most }: ExpectedRows): void {
  if (count < least || count > most) throw new GuardError(`other rows than expected, but ${count}`)
}

/** All of them at once, for a server that can refuse by itself what is not as expected. */
export function wholeOf(statements: readonly CheckedStatement[]): Whole<Answers> {
  return {
    send: async (open, { start, locks }) => {
      // who may object is asked before COMMIT is sent
      if (locks.head.length === 0 || objectionTo(open.event) !== undefined) return undefined
      const all = open.session.whole && guardedAll(await traitsOf(open), statements)
      if (all === undefined) return undefined
      open.signal?.throwIfAborted()
      const course = await open.session.whole?.({ start, locks: locks.head, statements: all })
      return course && { ...course, locked: lockedIn(open, course, locks) }
    },
    stored: (open, sent) => storedWhole(open, sent, statements),
  }
}

/** With the error that a caller of the lock expects. */
function lockedIn(
  { dialect, signal, limit }: OpenTransaction<unknown>,
  { locked }: WholeCourse,
  { plans: [plan] }: PlannedOpening,
): Promise<void> {
  if (plan === undefined) return locked
  const taken = take(plan, { dialect, signal, limit, what: theLock }, () => locked)
  taken.catch(() => {})
  return taken
}

function guardedAll(
  { guarded }: DeclaredTraits,
  statements: readonly CheckedStatement[],
): readonly SqlStatement[] | undefined {
  const all: SqlStatement[] = []
  for (const { sql, params, expected, returns, hasWith } of statements) {
    const sent =
      expected === undefined ? { sql, params } : guarded?.({ sql, params }, { expected, returns, hasWith })
    if (sent === undefined) return undefined
    all.push(sent)
  }
  return all
}

/** Of dialects whose part has been loaded. */
const loaded = new WeakMap<Dialect, DeclaredTraits>()

async function traitsOf({ dialect }: Server): Promise<DeclaredTraits> {
  const known = loaded.get(dialect)
  if (known !== undefined) return known
  if (dialect.declared !== undefined) {
    const traits = await dialect.declared()
    loaded.set(dialect, traits)
    return traits
  }
  throw new LockUsageError('statements', `${dialect.title} takes no SQL: run them in withLock`)
}

/** Whether a statement's rows were not as expected. */
export async function isGuardError(error: unknown, dialects: readonly Dialect[]): Promise<boolean> {
  if (error instanceof GuardError) return true
  for (const { declared } of dialects) {
    const traits = await declared?.()
    if (traits?.isGuard?.(error) === true) return true
  }
  return false
}
