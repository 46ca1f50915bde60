import type { LockKey } from '../core/key.ts'
import type { Row, Statement } from '../core/statement.ts'
import type { DialectTools } from '../dialects/tools.ts'
import type { Action, ActionOf, TransactionVerb } from './action.ts'
import type { Client } from './subject.ts'

/** Where an actor stands. */
export interface Place {
  readonly client: Client
  readonly tools: DialectTools
  readonly table: string
  readonly keyOf: (name: string) => LockKey
  /** Runs a statement on a connection of the observer. */
  readonly command: (statement: Statement) => Promise<readonly Row[]>
}

/** A place inside of a transaction. */
export interface Inside extends Place {
  readonly tx: object
  /** What the session has seen of each row. */
  readonly seen: Map<number, number>
}

/** What each verb means in a transaction; it gives what the session sees. */
type Doing = { readonly [V in TransactionVerb]: (at: Inside, action: ActionOf<V>) => Promise<unknown> }

const doing: Doing = {
  'lock-row': async ({ client, tx, tools, table, seen }, { ids, options }) => {
    const rows = await client.locks.rows(tx, tools.fixture.target(table, ids), options)
    const numbers = rows.map(({ n }) => Number(n))
    if (typeof ids !== 'number') return numbers
    if (numbers[0] !== undefined) seen.set(ids, numbers[0])
    return numbers[0]
  },
  'lock-name': async ({ client, tx, keyOf }, { key, options }) =>
    void (await client.locks.lock(tx, keyOf(key), options)),
  read: async (at, { id }) => {
    const n = numberIn(await run(at, at.tools.fixture.read(at.table, id)))
    if (n !== undefined) at.seen.set(id, n)
    return n
  },
  write: async (at, { id, n }) => void (await run(at, at.tools.fixture.write(at.table, id, n))),
  add: async (at, { id, by }) => void (await run(at, at.tools.fixture.add(at.table, id, by))),
  'add-to-seen': async (at, { id, by }) =>
    void (await run(at, at.tools.fixture.write(at.table, id, (at.seen.get(id) ?? 0) + by))),
  insert: async (at, { id, n }) => void (await run(at, at.tools.fixture.insert(at.table, { id, n }))),
  delete: async (at, { id }) => void (await run(at, at.tools.fixture.delete(at.table, id))),
  'lose-connection': async (at) => {
    const { self, kill } = at.tools.inspector
    if (self === undefined || kill === undefined)
      throw new TypeError('nobody can end a session of this engine from outside')
    const [row] = await run(at, self)
    await at.command(kill(String(row?.id)))
  },
}

/** The compiler cannot follow that a verb and its action belong together. */
export async function doInTransaction(at: Inside, action: ActionOf<TransactionVerb>): Promise<unknown> {
  const does = doing[action.verb] as (at: Inside, action: Action) => Promise<unknown>
  return does(at, action)
}

function run({ client, tx }: Inside, statement: Statement): Promise<readonly Row[]> {
  return client.run(tx, statement)
}

/** Statements that belong to no transaction. */
export async function doAlone(
  { command, tools, table }: Place,
  action: ActionOf<TransactionVerb>,
): Promise<unknown> {
  const { fixture } = tools
  if (action.verb === 'read') return numberIn(await command(fixture.read(table, action.id)))
  if (action.verb === 'write') return void (await command(fixture.write(table, action.id, action.n)))
  throw new TypeError(`${action.verb} needs a transaction`)
}

function numberIn([row]: readonly Row[]): number | undefined {
  return row === undefined ? undefined : Number(row.n)
}
