import type { EngineSession } from '../../engines/engine.ts'
import { until } from '../../engines/until.ts'
import type { Provocations, Provoked, Scenario } from '../scenario.ts'
import { errorOf, outcomeOf } from '../stage.ts'
import { connectionScenarios } from './postgres-connection.ts'
import { interrupted, lockRow, meets } from './postgres-stage.ts'
import { sql } from './sql.ts'

const loser = async (
  a: [EngineSession, Promise<unknown>],
  b: [EngineSession, Promise<unknown>],
): Promise<Provoked> =>
  Promise.any([a, b].map(async ([session, work]) => ({ session, error: await errorOf(work) })))

const scenarios: readonly Scenario[] = [
  {
    name: 'two sessions lock two rows in opposite order',
    expect: { kind: 'deadlock', transaction: 'aborted', key: '40P01' },
    run: async (stage) => {
      const [a, b] = [await stage.victim(), await stage.victim()]
      await a.run(lockRow(1))
      await b.run(lockRow(2))
      const first = a.run(lockRow(2))
      outcomeOf(first)
      await until(() => stage.engine.isWaiting(a), 'the first of the two waiting')
      return loser([a, first], [b, b.run(lockRow(1))])
    },
  },
  {
    name: 'repeatable read changes a row that has changed since its snapshot',
    expect: { kind: 'serialization', transaction: 'aborted', key: '40001' },
    run: async (stage) => {
      const session = await stage.victim('isolation level repeatable read')
      await session.run(sql('select * from items'))
      await (await stage.open()).run(sql('update items set n = n + 1 where id = 1'))
      return { session, error: await errorOf(session.run(sql('update items set n = n + 1 where id = 1'))) }
    },
  },
  {
    name: 'serializable finds write skew at commit',
    expect: {
      kind: 'serialization',
      transaction: 'rolled-back',
      key: '40001 / PreCommit_CheckForSerializationFailure',
    },
    run: async (stage) => {
      const [session, other] = [await stage.victim('isolation level serializable'), await stage.open()]
      await other.begin('isolation level serializable')
      for (const reader of [session, other]) await reader.run(sql('select sum(n) from items'))
      await session.run(sql('update items set n = 1 where id = 1'))
      await other.run(sql('update items set n = 1 where id = 2'))
      await other.commit()
      return { session, error: await errorOf(session.commit()) }
    },
  },
  {
    name: 'NOWAIT on a row',
    expect: { kind: 'lock-not-available', transaction: 'aborted', key: '55P03' },
    run: meets('select n from items where id = 1 for update nowait'),
  },
  {
    name: 'NOWAIT on a table',
    expect: { kind: 'lock-not-available', transaction: 'aborted', key: '55P03' },
    run: meets('lock table items in exclusive mode nowait'),
  },
  ...[
    ['a row', 'select n from items where id = 1 for update'],
    ['an advisory lock', 'select pg_advisory_xact_lock(1)'],
    ['a table', 'lock table items in exclusive mode'],
  ].map(([what, statement]): Scenario => ({
    name: `lock_timeout on ${what}`,
    expect: { kind: 'lock-timeout', transaction: 'aborted', key: '55P03 / ProcessInterrupts' },
    run: meets(statement ?? '', "set local lock_timeout = '50ms'"),
  })),
  {
    name: 'more locks than the server has room for',
    expect: { kind: 'too-many-locks', transaction: 'aborted', key: '53200' },
    isAlone: true,
    run: async (stage) => {
      const session = await stage.victim()
      const greedy = sql('select count(pg_advisory_xact_lock(i)) from generate_series(1, 1000000) i')
      const error = await errorOf(session.run(greedy))
      // the error is sent before the locks are released, and until then the server can answer nobody
      const answers = (): Promise<boolean> =>
        stage.engine.leftovers().then(
          () => true,
          () => false,
        )
      await until(answers, 'a server that answers again')
      return { session, error }
    },
  },
  {
    name: 'a key twice',
    expect: { kind: 'unique-violation', transaction: 'aborted', key: '23505' },
    run: meets('insert into items values (2, 0)'),
  },
  {
    name: 'a range that an exclusion constraint forbids',
    expect: { kind: 'unique-violation', transaction: 'aborted', key: '23P01' },
    run: meets(
      "insert into spans values ('[2,4)')",
      "create table spans (r int4range, exclude using gist (r with &&)); insert into spans values ('[1,3)')",
    ),
  },
  {
    name: 'statement_timeout while waiting for a row',
    expect: { kind: 'cancelled', transaction: 'aborted', key: '57014' },
    run: meets('select n from items where id = 1 for update', "set local statement_timeout = '50ms'"),
  },
  {
    name: 'a statement that another session cancels',
    expect: { kind: 'cancelled', transaction: 'aborted', key: '57014' },
    run: interrupted(async (stage, { id }) =>
      (await stage.open()).run(sql('select pg_cancel_backend($1)', Number(id))),
    ),
  },
  {
    name: 'a statement after one that failed',
    expect: { kind: 'other', transaction: 'aborted', key: '25P02' },
    run: async (stage) => {
      const session = await stage.victim()
      await errorOf(session.run(sql('select 1 / 0')))
      return { session, error: await errorOf(session.run(sql('select 1'))) }
    },
  },
  {
    name: 'an error that is not about locks',
    expect: { kind: 'other', transaction: 'aborted', key: '22012' },
    run: meets('select 1 / 0'),
  },
  ...connectionScenarios,
]

const elsewhere = 'raised by poolers and other products that speak the protocol, not by a PostgreSQL server'
const crash = 'lasts for an instant while a server starts, crashes or is taken away'

const postgres: Provocations = {
  setUp: [
    sql('create table items (id int primary key, n int not null)'),
    sql('create table marks (name text not null)'),
  ],
  reset: [sql('truncate items, marks'), sql('insert into items values (1, 0), (2, 0)')],
  mark: (name) => sql('insert into marks values ($1)', name),
  marks: sql('select name from marks'),
  scenarios,
  notProvoked: {
    CONNECTION_CLOSED: 'of postgres.js: test/adapters/postgres-js.test.ts provokes it',
    CONNECTION_DESTROYED: 'of postgres.js: test/adapters/postgres-js.test.ts provokes it',
    CONNECTION_ENDED: 'of postgres.js: test/adapters/postgres-js.test.ts provokes it',
    CONNECT_TIMEOUT: 'of postgres.js: test/adapters/postgres-js.test.ts provokes it',
    '40003': elsewhere,
    '08000': elsewhere,
    '08001': elsewhere,
    '08003': elsewhere,
    '08004': elsewhere,
    '08006': elsewhere,
    '08007': elsewhere,
    '08P01': elsewhere,
    '08P01 / exec_bind_message': 'test/batch/pg-whole.test.ts provokes it',
    '08P01 / pq_getmsgend': 'test/bodies/postgres-text.test.ts provokes it',
    '08P01 / pq_copymsgbytes': 'test/bodies/postgres-text.test.ts provokes it',
    '57P02': crash,
    '57P03': crash,
    '57P04': crash,
  },
}

export default postgres
