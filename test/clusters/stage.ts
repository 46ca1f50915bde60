import mysql, { type Pool, type PoolConnection, type RowDataPacket } from 'mysql2/promise'

import type { Locks } from '../../src/index.ts'
import { createLocks, queue, type Queue } from '../../src/entries/mysql2.ts'
import type { Skip } from '../engines/extra-server.ts'
import type { Cluster } from '../engines/cluster.ts'
import type { StartedServer } from '../engines/engine.ts'
import { intoDatabase } from '../engines/own-database.ts'
import { until } from '../engines/until.ts'

/** An application on one server of the cluster. */
export interface Node {
  readonly server: StartedServer
  readonly url: string
  readonly pool: Pool
  readonly locks: Locks<PoolConnection, 'mysql' | 'mariadb'>
  /** The one value that a query gives, past the library. */
  readonly ask: (sql: string) => Promise<unknown>
}

/** Two applications, each on a server of its own, and both servers take writes. */
export interface Stage {
  readonly nodes: readonly Node[]
  readonly first: Node
  readonly second: Node
  /** The application that a worker belongs to: they take turns. */
  readonly of: (worker: number) => Node
  /** Waits until every server gives this value. */
  readonly agree: (sql: string, value: number) => Promise<void>
  readonly stop: () => Promise<void>
}

/** Gives the stage inside a test, or ends the test with the reason why there is none. */
export type UseStage = (skip: Skip) => Stage

export const workers = 8

/** A row of the table that the specs use as a queue. */
export interface JobRow {
  readonly id: number
  readonly state: string
  readonly claim_token: string | null
  readonly claimed_until: number | null
}

export const jobs: Queue<JobRow> = queue<JobRow>({
  table: 'job',
  id: 'id',
  orderBy: { column: 'id' },
  where: { state: 'ready' },
  claim: { token: 'claim_token', until: 'claimed_until' },
  done: { set: { state: 'done' } },
})

const tables = [
  'create table counter (id int primary key, n int not null) engine = innodb',
  'insert into counter values (1, 0), (2, 0), (3, 0), (4, 0)',
  'create table mark (id varchar(60) primary key) engine = innodb',
  'create table job (id int primary key, state varchar(20) not null, claim_token varchar(36), ' +
    'claimed_until bigint) engine = innodb',
  'create table big (id int primary key, n int not null) engine = innodb',
  'insert into big values (1, 0)',
  ...Array.from({ length: 15 }, (_, n) => `insert into big select id + ${2 ** n}, 0 from big`),
]

export async function openStage({ nodes: servers, stop }: Cluster): Promise<Stage> {
  const [firstServer] = servers
  if (firstServer === undefined) throw new Error('a cluster has servers')
  const setUp = await mysql.createConnection(firstServer.server.url)
  await setUp.query('create database ours')
  await setUp.query('use ours')
  for (const sql of tables) await setUp.query(sql)
  await setUp.end()
  const nodes = await Promise.all(servers.map(openNode))
  const [first, second] = nodes
  if (first === undefined || second === undefined) throw new Error('two servers are needed')
  return {
    nodes,
    first,
    second,
    of: (worker) => nodes[worker % nodes.length] ?? first,
    agree: async (sql, value) => {
      for (const { ask } of nodes)
        await until(async () => (await ask(sql)) === value, `${sql} gives ${value}`)
    },
    stop: async () => {
      for (const { pool } of nodes) await pool.end()
      await stop()
    },
  }
}

async function openNode(server: StartedServer): Promise<Node> {
  const there = mysql.createPool({ uri: server.server.url, connectionLimit: 1 })
  const isThere = async (): Promise<boolean> => {
    const [rows] = await there.query<RowDataPacket[]>("show tables in ours like 'job'").catch(() => [[]])
    return rows.length === 1
  }
  await until(isThere, 'the tables on every server').finally(() => there.end())
  const url = intoDatabase(server.server.url, 'ours')
  const pool = mysql.createPool({ uri: url, connectionLimit: 12 })
  const ask: Node['ask'] = async (sql) => {
    const [[row]] = await pool.query<RowDataPacket[]>(sql)
    return Object.values(row ?? {})[0]
  }
  return { server, url, pool, locks: createLocks(pool), ask }
}

/** Runs the work of all workers at once, and gives what each came to. */
export function crew<T>(size: number, work: (worker: number) => Promise<T>): Promise<readonly T[]> {
  return Promise.all(Array.from({ length: size }, (_, worker) => work(worker)))
}
