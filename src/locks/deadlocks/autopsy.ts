import type { ErrorLike } from '../../core/classification.ts'
import { performance } from '../../core/clock.ts'
import type { Deadlock } from '../../core/deadlock.ts'
import type { Deadline } from '../../core/deadline.ts'
import { inWords } from '../../core/in-words.ts'
import type { DeadlockClues, DeadlockReader, Replies } from '../../dialects/tools.ts'
import { within } from '../limit.ts'
import { callInClear } from '../named/clear-names.ts'
import { knownKeys } from '../named/known-keys.ts'
import type { OpenTransaction } from '../port.ts'
import { askAll } from '../questions.ts'
import { ownStatement } from './own-statement.ts'

/** Longer than any server takes to tell; nobody waits for the rest. */
const limitMs = 1000

export interface Case {
  /** The driver's own error. */
  readonly original: unknown
  readonly budget: Deadline | undefined
}

/** What the server tells of the deadlock that this transaction has lost to. Undefined where its engine knows none. */
export async function autopsy(
  open: OpenTransaction<unknown>,
  { original, budget }: Case,
): Promise<Deadlock | undefined> {
  const { dialect, session, isInDoubt } = open
  const reader = (await dialect.tools?.())?.deadlocks
  if (reader === undefined) return undefined
  const { at: failedAt = -Infinity, sent = [], text } = session.witness?.failureOf?.(original) ?? {}
  const error = (typeof original === 'object' && original !== null ? original : {}) as ErrorLike
  const clues = { error, sent, failed: text, own: ownStatement(original) }
  const ms = Math.min(limitMs, budget?.remainingMs() ?? Infinity)
  const began = performance.now()
  const asked =
    isInDoubt() || ms <= 0
      ? unasked(ms <= 0 ? 'no time was left of budgetMs' : 'its connection was lost')
      : await askInTime(open, reader.questions({ ...clues, sinceMs: 0 }), ms)
  // the server has found it before the error has travelled here: for no longer than the questions have travelled
  const now = performance.now()
  const sinceMs = now - failedAt + (now - began)
  return report(dialect.name, reader, { ...asked, clues: { ...clues, sinceMs } })
}

interface Answers {
  readonly replies: Replies
  readonly refused: readonly string[]
}

function unasked(why: string): Answers {
  return { replies: {}, refused: [`what the server knows of it: ${why}`] }
}

async function askInTime(
  { session, dialect, doubt, signal }: OpenTransaction<unknown>,
  questions: ReturnType<DeadlockReader['questions']>,
  ms: number,
): Promise<Answers> {
  const says = `no answer in ${Math.ceil(ms)} ms`
  try {
    return await within({ ms, signal, says }, askAll(questions, { session, dialect, doubt }), doubt)
  } catch (error) {
    signal?.throwIfAborted()
    doubt(error)
    return unasked(error instanceof Error ? error.message : inWords(error))
  }
}

function report(
  dialect: string,
  reader: DeadlockReader,
  { replies, refused, clues }: Answers & { readonly clues: DeadlockClues },
): Deadlock {
  const { at, sessions, unseen } = reader.read(replies, clues)
  return {
    dialect,
    ...(at === undefined ? {} : { at }),
    sessions: callInClear({ sessions: fromVictim(sessions), leases: [] }, [...knownKeys]).sessions,
    unseen: [...refused, ...unseen],
  }
}

/** The same circle, from the victim on. */
export function fromVictim<S extends { readonly isVictim: boolean }>(sessions: readonly S[]): readonly S[] {
  const start = Math.max(
    0,
    sessions.findIndex(({ isVictim }) => isVictim),
  )
  return [...sessions.slice(start), ...sessions.slice(0, start)]
}
