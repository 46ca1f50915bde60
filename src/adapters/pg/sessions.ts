import { LockUsageError } from '../../core/errors.ts'
import type { Mutable } from '../../core/mutable.ts'
import { madeOf, onDemand } from '../../core/on-demand.ts'
import { released, type Session, type Sessions, type TransactionStart } from '../../core/session.ts'
import type { Statement } from '../../core/statement.ts'
import { watchLoss } from '../connection-loss.ts'
import { PgBody, type PgMessages } from './body.ts'
import { ask, askForRows, rowsOf, type PgSender, type Question } from './ask.ts'
import type { CancelTarget } from './cancel.ts'
import { endBackend } from './end-backend.ts'
import { beginText } from './begin-text.ts'
import { guardIdle, type IdleErrors } from './guard.ts'
import { mustHave } from '../must-have.ts'
import type { ListeningClient } from './listen.ts'
import { statementNames, type StatementNames } from './names.ts'
import { canRide } from './carry.ts'
import { headOf } from './head.ts'
import { Line } from './ride.ts'
import { sqlOnly } from '../statement-kind.ts'
import { hasEnded } from '../transaction-body.ts'

/** What is used of `pg`'s `Pool`. The second way to connect is not used; its type is what tells the client's. */
export interface PgPool<Client = PgClient> extends IdleErrors {
  connect(): Promise<Client>
  connect(callback: (error: Error | undefined, client: Client | undefined, done: () => void) => void): void
}

/** What is used of a client of a `pg` pool. */
export interface PgClient extends CancelTarget, ListeningClient, PgSender {
  /** Where `pg` tells of every message of the server; absent in its native client. */
  readonly connection?: PgMessages
  readonly query: PgSender['query'] & ListeningClient['query']
  release(error?: Error): void
}

/** How statements are sent. */
export interface PgSessionOptions {
  /**
   * Keep statements that are sent again and again on their own prepared on each connection, under names that start
   * with `holdfast_`. Ends by itself behind a pooler that does not know prepared statements. @default true
   */
  readonly prepare?: boolean
  /**
   * What travels together with the first statement of the work, for one round trip less: only a BEGIN that waits for
   * nothing, or, with `true`, the lock that is taken with it as well; with `false`, nothing.
   *
   * With `true` the work is called before its lock is granted. Its first statement runs under the lock, and so does
   * everything after the answer to that; what it does before, other than with the database, does not. When the lock cannot
   * be had, no statement of the work is run, and the call rejects as always. @default BEGIN alone
   */
  readonly pipeline?: boolean | undefined
}

/** Only leases and workers listen. */
const listening = /* @__PURE__ */ onDemand(() => import('./listen.ts'))

/** Sessions on the connections of a `pg` pool. The caller's work receives the pool's own client. */
export function sessions<Client extends PgClient>(
  pool: PgPool<Client>,
  { prepare = true, pipeline }: PgSessionOptions = {},
): Sessions<Client> {
  mustBePool(pool)
  const names = prepare ? statementNames(pool) : undefined
  const manner = { names, pipeline }
  const hearing = madeOf(listening, ({ listenOn }) => listenOn(pool))
  guardIdle(pool)
  return {
    adapter: 'pg',
    source: pool,
    open: () => pool.connect().then((client) => sessionOf(client, manner)),
    listen: (topic, wake) => hearing((listen) => listen(topic, wake)),
  }
}

function mustBePool(pool: object): void {
  const pass = 'a pool, as in createLocks(new pg.Pool({ connectionString }))'
  if (isPglite(pool)) throw onlySession()
  mustHave(pool, { field: 'pool', methods: ['connect'], pass, from: 'pg' })
  // pools have none of their own
  if ('getTypeParser' in pool)
    throw new LockUsageError('pool', `is one client, which cannot run two transactions at once: pass ${pass}`)
}

/** What it has and no other; seen with 0.5.16. */
function isPglite(pool: unknown): boolean {
  return typeof pool === 'object' && pool !== null && 'runExclusive' in pool
}

function onlySession(): LockUsageError {
  return new LockUsageError(
    'pool',
    'is PGlite, which has one session, and locks work between sessions: its own transaction() is exclusive until it ends',
  )
}

interface Manner {
  readonly names: StatementNames | undefined
  readonly pipeline: boolean | undefined
}

/** Field by field, and no more than it has to do: one is made for every transaction, and what it costs is waited for. */
function sessionOf<Client extends PgClient>(client: Client, { names, pipeline }: Manner): Session<Client> {
  const loss = watchLoss(client)
  const line = new Line(client)
  const body = new PgBody(client, line)
  const { run, begin, ride, commit, rollback, stored } = statementsOn(line, names, body)
  const session: Mutable<Session<Client>> = {
    tx: body.tx,
    run,
    begin,
    commit,
    rollback,
    stored,
    untilIdle: () => body.untilIdle(),
    release: () => {
      body.stop()
      client.release()
      loss.stop()
      return released
    },
    destroy: async (why) => {
      body.stop()
      await endBackend(client, why)
    },
    onLost: loss.onLost,
    whyLost: loss.whyLost,
  }
  if (pipeline === true || (pipeline === undefined && canRide(client))) session.ride = ride
  if (pipeline === true) session.ridesWithLocks = true
  if (canRide(client)) session.whole = wholeOn(client, body)
  // the native client tells nothing
  if (client.connection !== undefined) session.witness = body.state
  if (client.processID != null) session.backend = String(client.processID)
  return session
}

/** Few transactions are sent so. */
const sending = /* @__PURE__ */ onDemand(() => import('./send-whole.ts'))

function wholeOn(client: PgClient, body: Body): NonNullable<Session['whole']> {
  // no text of the head or of a lock has a semicolon but between two statements
  return ({ start, locks, statements }) =>
    sending(async ({ sendWhole }) =>
      sendWhole(client, body, {
        head: beginText(start).split('; '),
        locks: locks.flatMap(({ sql }) => sql.split('; ')),
        statements,
      }),
    )
}

type Statements = Required<Pick<Session, 'run' | 'begin' | 'ride' | 'commit' | 'rollback' | 'stored'>>

type Body = PgBody<PgClient>

function statementsOn(line: Line, names: StatementNames | undefined, body: Body): Statements {
  const { state } = body
  const client = line as PgSender
  const rollback = async (): Promise<void> => {
    body.giveUp()
    const stage = await line.end()
    if (stage === 'under way') throw new Error('the transaction waits to begin')
    if (stage !== 'unsent') await ask(client, () => ({ text: 'ROLLBACK' }))
    state.over()
  }
  const beginning = (start: TransactionStart): string => {
    const text = beginText(start)
    body.begin()
    return text
  }
  const ride: Statements['ride'] = (start = {}, { waits = false, isLimited = false } = {}) => {
    const head = headOf(beginning(start))
    return line.start({ head, goesAlone: body.beginsAlone, isAnsweredFirst: isLimited, waits })
  }
  const undo = async (reason: unknown): Promise<never> => {
    // where that fails, the connection is gone, and the transaction with it
    if (state.isOpen) await rollback().catch(() => {})
    throw reason
  }
  return {
    run: (statement) => askForRows(client, () => questionOf(statement, body, names), names),
    begin: (start = {}) => ask(client, () => ({ text: beginning(start) })).then(rowsOf, undo),
    ride,
    commit: () => {
      body.close()
      return ask(client, () => ({ text: 'COMMIT' })).then((result) => body.committed(result?.command))
    },
    rollback,
    stored: () => state.stored,
  }
}

function questionOf(statement: Statement, body: Body, names: StatementNames | undefined): Question {
  const { sql, params, isPrepared } = sqlOnly(statement)
  const { state } = body
  if (body.isStopped) throw hasEnded()
  state.sendsOwn(sql, params)
  // outside of a transaction only: where the name is refused, the statement is sent again without it
  const name = isPrepared === true && !state.isOpen ? names?.of(sql) : undefined
  return { text: sql, values: params, name }
}
