import type { Row, Statement } from '../../src/core/statement.ts'

/** The statements of the bodies in the language of an engine. */
export interface Tongue {
  readonly create: readonly Statement[]
  /** Leaves a mark, which tells where it came from. */
  readonly mark: (mark: Mark) => Statement
  readonly marks: (run: number) => Statement
  readonly bump: (row: number) => Statement
  readonly duplicate: Statement
  readonly nonsense: Statement
  /** Fails, and ends the transaction, which an error does not do here otherwise. */
  readonly ending?: Statement
  readonly read: Statement
  /** Reads and locks both rows, the second one last. */
  readonly readLocked?: Statement
  /** Takes the next number from a table, and finds those that were taken twice. */
  readonly number?: { readonly take: Statement; readonly twice: Statement }
  /** What the engine says of a statement because of the error of another. */
  readonly consequence?: RegExp
  /** How a rival begins, where the plain way takes no lock. */
  readonly rivalMode?: string
}

export interface Mark {
  readonly run: number
  readonly attempt: number
  readonly step: number
}

const say = (sql: string): Statement => ({ sql, params: [] })

const sql: Tongue = {
  create: [
    say('create table spot (id integer primary key, n integer not null)'),
    say('insert into spot values (1, 0), (2, 0)'),
    say('create table mark (run integer not null, attempt integer not null, step integer not null)'),
    say('create table ticket (n integer not null)'),
  ],
  mark: ({ run, attempt, step }) => say(`insert into mark values (${run}, ${attempt}, ${step})`),
  marks: (run) => say(`select run, attempt, step from mark where run = ${run}`),
  bump: (row) => say(`update spot set n = n + 1 where id = ${row}`),
  duplicate: say('insert into spot values (1, 0)'),
  nonsense: say('select no_such_column from spot'),
  read: say('select * from spot'),
  readLocked: say('select * from spot order by id for update'),
  number: {
    take: say('insert into ticket select coalesce(max(n), 0) + 1 from ticket'),
    twice: say('select n from ticket group by n having count(*) > 1'),
  },
  consequence: /current transaction is aborted/i,
}

/** PostgreSQL looks for deadlocks after a second of waiting, in which ten bodies could be tried; if the user may say so. */
const hurry = say(`do $$ begin
  execute format('alter database %I set deadlock_timeout = ''20ms''', current_database());
exception when insufficient_privilege then null; end $$`)

const ending = say('insert or rollback into spot values (1, 0)')

const documents: Tongue = {
  create: [
    { command: { create: 'mark' } },
    { command: { insert: 'spot', documents: [1, 2].map((id) => ({ _id: id, n: 0 })) } },
  ],
  mark: (mark) => ({ command: { insert: 'mark', documents: [{ ...mark }] } }),
  marks: (run) => ({ command: { find: 'mark', filter: { run } } }),
  bump: (row) => ({ command: { update: 'spot', updates: [{ q: { _id: row }, u: { $inc: { n: 1 } } }] } }),
  duplicate: { command: { insert: 'spot', documents: [{ _id: 1 }] } },
  nonsense: { command: { find: 'spot', filter: { $nonsense: 1 } } },
  read: { command: { find: 'spot', filter: {} } },
}

export function tongueOf(engine: string): Tongue {
  if (engine === 'mongodb') return documents
  if (engine === 'postgres') return { ...sql, create: [hurry, ...sql.create] }
  return engine === 'sqlite' ? { ...sql, rivalMode: 'IMMEDIATE', ending } : sql
}

/** A mark as text, to compare sets of them. */
export function markText({ attempt, step }: Pick<Mark, 'attempt' | 'step'>): string {
  return `attempt ${attempt}, statement ${step}`
}

export function markOf(row: Row): string {
  return markText({ attempt: Number(row.attempt), step: Number(row.step) })
}
