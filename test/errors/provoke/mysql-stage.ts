import mysql, { type Connection, type ConnectionOptions } from 'mysql2/promise'

import type { SqlStatement } from '../../../src/core/statement.ts'
import type { EngineSession } from '../../engines/engine.ts'
import type { Provocations, Scenario } from '../scenario.ts'
import { blocked, errorOf, type Stage } from '../stage.ts'
import { sql } from './sql.ts'

export function lockRow(id: number): SqlStatement {
  return sql('select n from items where id = ? for update', id)
}

/** A session that holds row 1 and, by that, the definition of the table. */
async function holder(stage: Stage): Promise<EngineSession> {
  const session = await stage.open()
  await session.begin()
  await session.run(lockRow(1))
  return session
}

/** A statement that meets the holder, under the given setting. */
export function meets(statement: string, setting = 'do 0'): Scenario['run'] {
  return async (stage) => {
    await holder(stage)
    const session = await stage.open()
    await session.run(sql(setting))
    const victim = await stage.marked(session)
    return { session: victim, error: await errorOf(victim.run(sql(statement))) }
  }
}

/** A session that waits for the holder while `act` happens to it. */
export function interrupted(
  act: (stage: Stage, waiting: EngineSession) => Promise<unknown>,
): Scenario['run'] {
  return async (stage) => {
    await holder(stage)
    const session = await stage.victim()
    const waiting = await blocked(stage, session, lockRow(1))
    await act(stage, session)
    return { session, error: await waiting.error }
  }
}

/** A connection of the driver itself, for what a session does not show. */
export async function connection(stage: Stage, options: ConnectionOptions = {}): Promise<Connection> {
  const raw = await mysql.createConnection({ uri: stage.engine.server.url, ...options })
  raw.on('error', () => {})
  stage.afterwards(() => raw.destroy())
  return raw
}

/** The tables of both servers. */
export const tables: Pick<Provocations, 'setUp' | 'reset' | 'mark' | 'marks'> = {
  setUp: [
    sql('create table items (id int primary key, n int not null) engine = innodb'),
    sql('create table marks (name varchar(20) not null) engine = innodb'),
    sql('create table other_items (id int primary key) engine = innodb'),
  ],
  reset: [sql('delete from marks'), sql('delete from items'), sql('insert into items values (1, 0), (2, 0)')],
  mark: (name) => sql('insert into marks values (?)', name),
  marks: sql('select name from marks'),
}

const connectors = "of MariaDB's connector, which has a test of its own"

export const ofConnector: Provocations['notProvoked'] = {
  '45004': connectors,
  '45009': connectors,
  '45011': connectors,
  '45012': connectors,
  '45013': connectors,
  '45026': connectors,
  '45042': connectors,
}
