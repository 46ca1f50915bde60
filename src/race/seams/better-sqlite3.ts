import { libraryOf } from '../../adapters/libraries.ts'
import type { Gate } from '../gate.ts'
import type { Seam } from '../seam.ts'
import type { Answer } from '../seen.ts'
import { countIn } from './promised.ts'
import { replaced } from './replaced.ts'

type Call = (this: Prepared, ...values: unknown[]) => unknown

interface Prepared {
  readonly database: object
  readonly source: string
  run: Call
  get: Call
  all: Call
}

interface Handle {
  readonly inTransaction: boolean
  prepare(sql: string): Prepared
  exec(sql: string): unknown
}

/** A handle of `better-sqlite3`, whose statements are over before anything else can happen. */
export const betterSqlite3: Seam = {
  driver: 'better-sqlite3',
  is: (db) => libraryOf(db)?.entry === 'better-sqlite3',
  isSynchronous: true,
  notes: [
    'better-sqlite3 is synchronous: nobody can come between two statements without an await, and what follows an await ' +
      'cannot be held back. Each actor was begun behind each statement of the others; these are not all orders',
  ],
  install: (db, gate) => install(db as Handle, gate),
  end: async (db) => void (db as Handle).exec('ROLLBACK'),
}

function install(db: Handle, gate: Gate): () => void {
  // the class is not exported, and an application may have prepared its statements before
  const prototype = Object.getPrototypeOf(db.prepare('SELECT 1')) as Prepared
  const putBack = (['run', 'get', 'all'] as const).map((name) =>
    replaced(prototype, name, (original) => passed(db, original, gate)),
  )
  putBack.push(
    replaced(
      db,
      'exec',
      (original) => (sql) => noted(db, gate, { text: sql, run: () => original.call(db, sql) }),
    ),
  )
  return () => putBack.forEach((put) => put())
}

function passed(db: Handle, original: Call, gate: Gate): Call {
  return function call(...values) {
    if (this.database !== db) return original.apply(this, values)
    return noted(db, gate, { text: this.source, run: () => original.apply(this, values) })
  }
}

/** Settings of the connection are no steps. */
const isSetting = /^\s*pragma\b/i

interface Sent {
  readonly text: string
  readonly run: () => unknown
}

function noted(db: Handle, gate: Gate, { text, run }: Sent): unknown {
  const actor = gate.current
  if (actor === undefined || isSetting.test(text)) return run()
  if (actor.isOver) throw gate.refusal
  // whoever begins a transaction has the handle until it ends
  if (!db.inTransaction) gate.lend(db, actor, { isOpen: () => db.inTransaction })
  try {
    const answer = run()
    gate.passed(actor, { text, error: undefined, answer: answerOf(text, answer) })
    return answer
  } catch (error) {
    gate.passed(actor, { text, error, answer: undefined })
    throw error
  } finally {
    if (gate.isHolding(db)) gate.giveBack(db)
  }
}

function answerOf(text: string, answer: unknown): Answer {
  if (Array.isArray(answer)) return { rows: answer }
  if (typeof answer !== 'object' || answer === null) return {}
  return 'changes' in answer && 'lastInsertRowid' in answer
    ? countIn(text, answer.changes)
    : { rows: [answer] }
}
