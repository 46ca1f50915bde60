import mysql from 'mysql2/promise'

import type { EngineSession } from '../../engines/engine.ts'
import type { Provoked, Scenario } from '../scenario.ts'
import { blocked, errorOf, outcomeOf } from '../stage.ts'
import { towardsNobody } from './dead-address.ts'
import { connection, interrupted, lockRow, meets } from './mysql-stage.ts'
import { sql } from './sql.ts'

/** Two sessions that hold one named lock each and want the other's. Named locks outlive the transaction. */
export async function crossedNames(stage: Parameters<Scenario['run']>[0]): Promise<Provoked> {
  const [session, other] = [await stage.victim(), await stage.open()]
  const take = (who: EngineSession, name: string): Promise<unknown> =>
    who.run(sql(`select get_lock(concat(database(), '.${name}'), 20)`))
  await take(session, 'a')
  await take(other, 'b')
  const waiting = await blocked(stage, other, sql("select get_lock(concat(database(), '.a'), 20)"))
  stage.afterwards(() => waiting.settled)
  return { session, error: await errorOf(take(session, 'b')) }
}

/** What MySQL and MariaDB have in common. */
export const protocolScenarios: readonly Scenario[] = [
  {
    name: 'two sessions lock two rows in opposite order',
    expect: { kind: 'deadlock', transaction: 'rolled-back', key: '1213' },
    run: async (stage) => {
      // the one that has written less is the one to go
      const [session, other] = [await stage.victim(), await stage.open()]
      await other.begin()
      await other.run(sql('insert into items values (11, 0), (12, 0), (13, 0), (14, 0)'))
      await other.run(lockRow(2))
      await session.run(lockRow(1))
      const waiting = await blocked(stage, other, lockRow(1))
      stage.afterwards(() => waiting.settled)
      return { session, error: await errorOf(session.run(lockRow(2))) }
    },
  },
  {
    name: 'two sessions lock two table definitions in opposite order',
    expect: { kind: 'deadlock', transaction: 'rolled-back', key: '1213' },
    run: async (stage) => {
      const [session, other] = [await stage.victim(), await stage.open()]
      await session.run(sql('insert into other_items values (1)'))
      // has the definition of `items` and waits for that of `other_items`
      const rename = sql('rename table items to renamed, other_items to other_renamed')
      const waiting = await blocked(stage, other, rename)
      const error = await errorOf(session.run(sql('select * from items')))
      await waiting.settled
      await other.run(sql('rename table renamed to items, other_renamed to other_items'))
      return { session, error }
    },
  },
  {
    name: 'innodb_lock_wait_timeout on a row',
    expect: { kind: 'lock-timeout', transaction: 'open', key: '1205' },
    run: meets('select n from items where id = 1 for update', 'set innodb_lock_wait_timeout = 1'),
  },
  {
    name: 'lock_wait_timeout on the definition of a table',
    expect: { kind: 'lock-timeout', transaction: 'open', key: '1205' },
    run: async (stage) => {
      const changer = await stage.open()
      const session = await stage.victim()
      await session.run(sql('set lock_wait_timeout = 1'))
      const holder = await stage.open()
      await holder.begin()
      await holder.run(lockRow(1))
      const waiting = await blocked(stage, changer, sql('alter table items comment = ?', 'changed'))
      stage.afterwards(() => waiting.settled)
      return { session, error: await errorOf(session.run(sql('select * from items'))) }
    },
  },
  {
    name: 'a key twice',
    expect: { kind: 'unique-violation', transaction: 'open', key: '1062' },
    run: meets('insert into items values (2, 0)'),
  },
  {
    name: 'a statement that another session cancels',
    expect: { kind: 'cancelled', transaction: 'open', key: '1317' },
    run: interrupted(async (stage, { id }) => (await stage.open()).run(sql(`kill query ${id}`))),
  },
  {
    name: 'an error that is not about locks',
    expect: { kind: 'other', transaction: 'open', key: '1146' },
    run: meets('select * from nowhere'),
  },
  {
    name: 'a session that is killed while it waits',
    expect: { kind: 'connection-lost', transaction: 'unknown', key: 'PROTOCOL_CONNECTION_LOST' },
    run: interrupted((stage, session) => stage.engine.kill(session)),
  },
  {
    name: 'the statement after that',
    expect: {
      kind: 'connection-lost',
      transaction: 'unknown',
      key: "Can't add new command when connection is in closed state",
    },
    run: async (stage) => {
      const session = await stage.victim()
      await stage.engine.kill(session)
      await errorOf(session.run(sql('select 1'))) // hears of the end
      return { session, error: await errorOf(session.run(sql('select 1'))) }
    },
  },
  {
    name: 'a server that is not there',
    expect: { kind: 'connection-lost', transaction: 'unknown', key: 'ECONNREFUSED', isAnybodys: true },
    run: async (stage) => ({
      error: await errorOf(mysql.createConnection({ uri: await towardsNobody(stage.engine.server.url) })),
    }),
  },
  {
    name: "the driver's own time limit",
    expect: { kind: 'cancelled', transaction: 'unknown', key: 'PROTOCOL_SEQUENCE_TIMEOUT' },
    run: async (stage) => {
      const raw = await connection(stage)
      return { error: await outcomeOf(raw.query({ sql: 'select sleep(5)', timeout: 50 })).error }
    },
  },
]
