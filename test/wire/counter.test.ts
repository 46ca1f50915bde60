import mysql from 'mysql2/promise'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { describeEngines, type EngineContext } from '../engines/use.ts'
import { mysqlProtocol, postgresProtocol } from './protocols.ts'
import { startProxy, type Proxy } from './proxy.ts'

/** Sends one statement, with parameters where there are any. */
type Send = (sql: string, params?: readonly unknown[]) => Promise<unknown>

interface Client {
  readonly send: Send
  readonly end: () => Promise<unknown>
}

async function connectPg(connectionString: string): Promise<Client> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  return { send: (sql, params) => client.query(sql, params && [...params]), end: () => client.end() }
}

async function connectMysql2(uri: string): Promise<Client & { readonly execute: Send }> {
  const connection = await mysql.createConnection({ uri })
  return {
    send: (sql, params) => connection.query(sql, params && [...params]),
    execute: (sql) => connection.execute(sql),
    end: () => connection.end(),
  }
}

describe('the counter of round trips', () => {
  describeEngines(postgresSpecs, { only: ['postgres'] })
  describeEngines(mysqlSpecs, { only: ['mysql', 'mariadb'] })
})

function postgresSpecs(context: EngineContext): void {
  const { proxy, client } = throughProxy(context, connectPg)

  commonSpecs({ proxy, client }, 'select $1::int')

  test('counts one for several statements in one message', async () => {
    const trips = await proxy().during(() => client().send('begin; select 1; commit'))
    expect(trips).toEqual(['begin; select 1; commit'])
  })

  test('counts four for BEGIN, SET LOCAL, a query and COMMIT sent one by one', async () => {
    const texts = ['begin', "set local lock_timeout = '1s'", 'select 1', 'commit']
    expect(await proxy().during(() => oneByOne(client().send, texts))).toEqual(texts)
  })
}

function mysqlSpecs(context: EngineContext): void {
  const { proxy, client } = throughProxy(context, connectMysql2)

  commonSpecs({ proxy, client }, 'select ?')

  test('counts two for the first use of a statement that the server prepares, and one from then on', async () => {
    const run = (): Promise<readonly string[]> => proxy().during(() => client().execute('select 2'))
    expect(await run()).toEqual(['command 22', 'command 23'])
    expect(await run()).toEqual(['command 23'])
  })

  test('counts four for START TRANSACTION, SET, a query and COMMIT sent one by one', async () => {
    const texts = ['start transaction', 'set session lock_wait_timeout = 1', 'select 1', 'commit']
    expect(await proxy().during(() => oneByOne(client().send, texts))).toEqual(texts)
  })
}

/** What must hold on every protocol. */
function commonSpecs(
  { proxy, client }: { proxy: () => Proxy; client: () => Client },
  parameterized: string,
): void {
  test('counts nothing for the log-in and the farewell', async () => {
    const visit = await proxy().during(async () => {
      const passing = proxy().url.startsWith('postgres') ? connectPg : connectMysql2
      await (await passing(proxy().url)).end()
    })
    expect(visit).toEqual([])
  })

  test('counts one for a query, and two for two', async () => {
    expect(await proxy().during(() => client().send('select 1'))).toEqual(['select 1'])
    const trips = await proxy().during(() => oneByOne(client().send, ['select 1', 'select 2']))
    expect(trips).toEqual(['select 1', 'select 2'])
  })

  test('counts one for a query with a parameter', async () => {
    expect(await proxy().during(() => client().send(parameterized, [7]))).toHaveLength(1)
  })

  test('counts one for a query that fails', async () => {
    const fails = async (): Promise<void> => {
      await expect(client().send('select no_such_column')).rejects.toThrow(/no_such_column/)
    }
    expect(await proxy().during(fails)).toEqual(['select no_such_column'])
  })

  test('counts one for an answer that comes in many parts', async () => {
    const sql = "select repeat('x', 300000) as long_text"
    expect(await proxy().during(() => client().send(sql))).toEqual([sql])
  })
}

function throughProxy<C extends Client>(
  context: EngineContext,
  connect: (url: string) => Promise<C>,
): { readonly proxy: () => Proxy; readonly client: () => C } {
  let ready: { readonly proxy: Proxy; readonly client: C } | undefined
  beforeAll(async () => {
    const protocol = context.name === 'postgres' ? postgresProtocol : mysqlProtocol
    const proxy = await startProxy(context.engine.server.url, protocol)
    ready = { proxy, client: await connect(proxy.url) }
  })
  afterAll(async () => {
    await ready?.client.end()
    await ready?.proxy.close()
  })
  const get = (): { readonly proxy: Proxy; readonly client: C } => {
    if (ready === undefined) throw new Error('there is a proxy only inside a test')
    return ready
  }
  return { proxy: () => get().proxy, client: () => get().client }
}

async function oneByOne(send: Send, texts: readonly string[]): Promise<void> {
  for (const text of texts) await send(text)
}
