import type { Row, Statement } from '../../src/core/statement.ts'
import type { Queue, QueueDefinition } from '../../src/locks/queue/queue-definition.ts'
import { queue } from '../../src/locks/queue/queue.ts'
import type { Engine } from '../engines/engine.ts'

/** A row of the table that the specs use as a queue. */
export interface JobRow {
  readonly id: number
  readonly priority: number
  readonly title: string
  readonly state: 'ready' | 'again' | 'done' | 'dead'
  readonly claim_token: string | null
  readonly claimed_until: number | null
  readonly claimed_by: string | null
  readonly attempts: number
}

export type NewJob = Partial<JobRow> & { readonly id: number }

const definition: QueueDefinition<JobRow> = {
  table: 'job',
  id: 'id',
  orderBy: [{ column: 'priority', direction: 'desc' }],
  where: { state: 'ready' },
  claim: { token: 'claim_token', until: 'claimed_until', worker: 'claimed_by', attempts: 'attempts' },
  done: { set: { state: 'done' } },
}

/** The most important job first, three attempts for each. */
export const jobs: Queue<JobRow> = queue<JobRow>({
  ...definition,
  dead: { afterAttempts: 3, set: { state: 'dead' } },
})

/** The same table without an end of patience: for workers that are killed. */
export const patientJobs = (visibilityMs: number): Queue<JobRow> =>
  queue<JobRow>({ ...definition, visibilityMs })

const columns = [
  'id',
  'priority',
  'title',
  'state',
  'claim_token',
  'claimed_until',
  'claimed_by',
  'attempts',
] as const

const createTables = [
  'CREATE TABLE job (id INTEGER PRIMARY KEY, priority INTEGER NOT NULL, title VARCHAR(60) NOT NULL, ' +
    'state VARCHAR(20) NOT NULL, claim_token VARCHAR(36), claimed_until BIGINT, claimed_by VARCHAR(60), ' +
    'attempts INTEGER)',
  // what the jobs do to the world
  'CREATE TABLE effect (id INTEGER PRIMARY KEY, worker VARCHAR(60))',
]

/** How the specs reach the table, past the library. */
export interface JobTable {
  readonly add: (rows: readonly NewJob[]) => Promise<void>
  readonly all: () => Promise<readonly JobRow[]>
  readonly effects: () => Promise<readonly Row[]>
  readonly countReady: () => Promise<number>
  /** Changes every row, or one. */
  readonly set: (column: keyof JobRow, value: number | string | null, id?: number) => Promise<void>
  readonly run: (statement: Statement) => Promise<readonly Row[]>
  readonly empty: () => Promise<void>
  readonly close: () => Promise<void>
}

export async function createJobTable(engine: Engine, isDocuments: boolean): Promise<JobTable> {
  const session = await engine.open()
  const run = (statement: Statement): Promise<readonly Row[]> => session.run(statement)
  const shared = { run, close: () => session.close() }
  if (isDocuments) return { ...shared, ...(await documents(run)) }
  for (const sql of createTables) await run({ sql, params: [] })
  return { ...shared, ...sqlRows(run) }
}

type Reach = Omit<JobTable, 'run' | 'close'>
type Run = JobTable['run']

function sqlRows(run: Run): Reach {
  const say = (sql: string): Promise<readonly Row[]> => run({ sql, params: [] })
  return {
    add: async (rows) => {
      for (let start = 0; start < rows.length; start += 500) {
        const values = rows
          .slice(start, start + 500)
          .map((row) => `(${Object.values(filled(row)).map(literal).join(', ')})`)
        await say(`INSERT INTO job (${columns.join(', ')}) VALUES ${values.join(', ')}`)
      }
    },
    all: async () => (await say('SELECT * FROM job ORDER BY id')).map(asJob),
    effects: () => say('SELECT * FROM effect ORDER BY id'),
    countReady: async () => Number((await say("SELECT COUNT(*) AS n FROM job WHERE state = 'ready'"))[0]?.n),
    set: async (column, value, id) =>
      void (await say(
        `UPDATE job SET ${column} = ${literal(value)}${id === undefined ? '' : ` WHERE id = ${id}`}`,
      )),
    empty: async () => {
      await say('DELETE FROM job')
      await say('DELETE FROM effect')
    },
  }
}

async function documents(run: Run): Promise<Reach> {
  await run({
    command: { createIndexes: 'job', indexes: [{ key: { id: 1 }, name: 'id', unique: true }] },
  })
  await run({ command: { create: 'effect' } })
  const all = async (collection: string): Promise<readonly Row[]> =>
    run({ command: { find: collection, sort: { id: 1 }, batchSize: 100_000 } }) // only the first batch is read
  return {
    add: async (rows) => {
      for (let start = 0; start < rows.length; start += 1000) {
        const batch = rows.slice(start, start + 1000).map(filled)
        await run({ command: { insert: 'job', documents: batch } })
      }
    },
    all: async () => (await all('job')).map(asJob),
    effects: () => all('effect'),
    countReady: async () =>
      Number((await run({ command: { count: 'job', query: { state: 'ready' } } }))[0]?.n),
    set: async (column, value, id) => {
      const update = { q: id === undefined ? {} : { id }, u: { $set: { [column]: value } }, multi: true }
      await run({ command: { update: 'job', updates: [update] } })
    },
    empty: async () => {
      for (const collection of ['job', 'effect'])
        await run({ command: { delete: collection, deletes: [{ q: {}, limit: 0 }] } })
    },
  }
}

function filled(row: NewJob): JobRow {
  return {
    id: row.id,
    priority: row.priority ?? 0,
    title: row.title ?? `job ${row.id}`,
    state: row.state ?? 'ready',
    claim_token: row.claim_token ?? null,
    claimed_until: row.claimed_until ?? null,
    claimed_by: row.claimed_by ?? null,
    attempts: row.attempts ?? 0,
  }
}

function literal(value: string | number | null): string {
  if (value === null) return 'NULL'
  return typeof value === 'number' ? String(value) : `'${value}'`
}

/** Drivers disagree on the type of a BIGINT. */
function asJob(row: Row): JobRow {
  const number = (value: unknown): number | null => (value === null ? null : Number(value))
  return {
    ...(row as unknown as JobRow),
    id: Number(row.id),
    claimed_until: number(row.claimed_until),
    attempts: Number(row.attempts),
  }
}

/** Adds what a job does to the world; refused the second time. */
export function effectOf(isDocuments: boolean, id: number, worker: string): Statement {
  return isDocuments
    ? { command: { insert: 'effect', documents: [{ _id: id, id, worker }] } }
    : { sql: `INSERT INTO effect (id, worker) VALUES (${id}, '${worker}')`, params: [] }
}

/** The same for an engine whose documents stay locked for a minute when a process dies: refused the second time of one claim. */
export function effectOfClaim(id: number, worker: string, token: string): Statement {
  return { command: { insert: 'effect', documents: [{ _id: `${id} ${token}`, id, worker }] } }
}
