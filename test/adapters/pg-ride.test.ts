import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

import { headOf } from '../../src/adapters/pg/head.ts'
import { Line } from '../../src/adapters/pg/ride.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'

describeEngines(specs, { only: ['postgres'] })

function specs(context: EngineContext): void {
  let client: pg.Client
  let line: Line
  const start = (texts: readonly string[]): Promise<unknown> =>
    line.start({ head: headOf(texts.join('; ')), goesAlone: () => {}, isAnsweredFirst: false, waits: true })
  const insert = (id: number): Promise<string> =>
    (line.query('insert into note values ($1)', [id]) as Promise<unknown>).then(
      () => 'stored',
      (error: unknown) => (error as pg.DatabaseError).code ?? String(error),
    )
  const stored = async (): Promise<unknown> => (await client.query('select id from note order by id')).rows

  beforeAll(async () => {
    // as an application may have it, so that a statement need not wait for the one before it
    client = new pg.Client({
      connectionString: context.engine.server.url,
      pipeline: true,
    })
    line = new Line(client)
    await client.connect()
    await client.query('create table note (id int primary key)')
  })
  beforeEach(() => client.query('truncate note'))
  afterAll(() => client.end())

  test('without riding, a statement behind a BEGIN that is refused is stored: the control', async () => {
    const begin = client.query('BEGIN NONSENSE').catch((error: unknown) => error)
    expect(await insert(1)).toBe('stored')
    expect(await begin).toBeInstanceOf(pg.DatabaseError)
    expect(await stored()).toEqual([{ id: 1 }])
  })

  test('behind a BEGIN that is refused, no statement is run until the end, and then all are', async () => {
    const begun = start(['BEGIN NONSENSE', 'SELECT 1'])
    const first = insert(1)
    const second = insert(2)
    await expect(begun).rejects.toMatchObject({ code: '42601' })
    expect([await first, await second, await insert(3)]).toEqual(['42601', '42601', '42601'])
    expect(await line.end()).toBe('answered')
    expect(await stored()).toEqual([])
    expect(await insert(4)).toBe('stored')
  })

  test('behind a statement of the beginning that fails, nothing is run either', async () => {
    const begun = start(['BEGIN', 'SELECT 1 / 0', 'SELECT 2'])
    expect(await insert(1)).toBe('22012')
    await expect(begun).rejects.toMatchObject({ code: '22012' })
    await line.end()
    expect(await insert(2)).toBe('25P02') // the server's own transaction is open, and has failed
    await client.query('ROLLBACK')
    expect(await stored()).toEqual([])
  })

  test('a beginning gives the rows of its last statement, with or without a statement behind it', async () => {
    const texts = ['BEGIN', "SELECT 'a' AS x", "SELECT 'b' AS x, NULL AS y"]
    for (const next of [() => insert(1), async () => undefined]) {
      const begun = start(texts)
      await next()
      expect(await begun).toEqual([{ x: 'b', y: null }])
      await client.query('ROLLBACK')
    }
  })

  test('a cursor-like query waits for the beginning, or is told of its failure', async () => {
    const told = async (texts: readonly string[]): Promise<unknown> => {
      const begun = start(texts).catch(() => {})
      const answer = new Promise((resolve) => {
        line.query(
          new pg.Query('select 1 as n', (error: Error | undefined, result: pg.QueryResult) =>
            resolve(error ?? result.rows),
          ),
        )
      })
      await begun
      return answer.finally(() => line.end())
    }
    expect(await told(['BEGIN'])).toEqual([{ n: 1 }])
    await client.query('ROLLBACK')
    expect(await told(['BEGIN NONSENSE'])).toMatchObject({ code: '42601' })
  })

  test('a beginning that is ended before it is sent is never sent', async () => {
    const begun = start(['BEGIN'])
    expect(await line.end()).toBe('unsent')
    await expect(begun).rejects.toThrow('ended before it began')
    const { rows } = await client.query('select now() = statement_timestamp() as alone')
    expect(rows).toEqual([{ alone: true }])
  })
}
