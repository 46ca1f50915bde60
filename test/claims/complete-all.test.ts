import { describe, expect, test } from 'vitest'

import { LockLostError } from '../../src/core/errors.ts'
import { isSql, type Statement } from '../../src/core/statement.ts'
import type { ClaimStatements } from '../../src/dialects/claim.ts'
import type { Dialect } from '../../src/dialects/dialect.ts'
import { arrayText } from '../../src/dialects/postgres/array-text.ts'
import { JobsLostError } from '../../src/locks/queue/complete-all.ts'
import type { Job } from '../../src/locks/queue/job.ts'
import { queue } from '../../src/locks/queue/queue.ts'
import { caught } from '../entries/stage.ts'
import { jobs, type JobRow } from './job-table.ts'
import { describeQueues, describeQueuesAndKysely, type QueueStage } from './stage.ts'
import { dialectOf, openWorkshop } from './workshop.ts'

const deleted = queue<JobRow>({
  table: 'job',
  id: 'id',
  orderBy: 'id',
  where: { state: 'ready' },
  claim: { token: 'claim_token', until: 'claimed_until' },
  done: 'delete',
})

/** By an id that may have to be quoted, or is a word of the database's own. */
const byTitle = queue<JobRow>({
  table: 'job',
  id: 'title',
  orderBy: 'title',
  where: { state: 'ready' },
  claim: { token: 'claim_token', until: 'claimed_until' },
  done: { set: { state: 'done' } },
})

describe('many jobs that end at once', () => {
  describeQueuesAndKysely(specs)
})

function specs(stage: QueueStage): void {
  const add = (count: number): Promise<void> =>
    stage.table.add(Array.from({ length: count }, (_, index) => ({ id: index + 1 })))
  const claim = (limit: number): Promise<readonly Job<JobRow>[]> => stage.shop.claims.claim(jobs, { limit })
  const doneIds = async (): Promise<readonly number[]> =>
    (await stage.table.all()).filter(({ state }) => state === 'done').map(({ id }) => id)

  test('have all ended, whether they stay in the table or go', async () => {
    await add(7)
    await stage.shop.claims.complete(jobs, await claim(5))
    expect(await doneIds()).toEqual([1, 2, 3, 4, 5])
    expect((await stage.table.all())[0]).toMatchObject({ claim_token: null, claimed_until: null })
    await stage.shop.claims.complete(deleted, await stage.shop.claims.claim(deleted, { limit: 2 }))
    expect((await stage.table.all()).map(({ id }) => id)).toEqual([1, 2, 3, 4, 5])
  })

  test('may be of several claims, named twice, or none at all', async () => {
    await add(4)
    const [first, second] = [await claim(2), await claim(2)]
    await stage.shop.claims.complete(jobs, [...first, ...second, ...first])
    expect(await doneIds()).toEqual([1, 2, 3, 4])
    await stage.shop.claims.complete(jobs, [])
  })

  test('end but for those that are lost, and those are named', async () => {
    await add(4)
    const stale = await claim(4)
    for (const { id } of stale.slice(1, 3)) await stage.table.set('claimed_until', 1, Number(id))
    const fresh = await claim(4)
    const error = await caught(stage.shop.claims.complete(jobs, stale))
    expect(error).toBeInstanceOf(JobsLostError)
    expect(error).toBeInstanceOf(LockLostError)
    expect((error as JobsLostError).lost).toEqual(stale.slice(1, 3).map(({ id, token }) => ({ id, token })))
    expect(String(error)).toMatch(/2 of 4 jobs are no longer this claim's/)
    expect(await doneIds()).toEqual([1, 4])
    await stage.shop.claims.complete(jobs, fresh)
    expect(await doneIds()).toEqual([1, 2, 3, 4])
  })

  test('are all lost to one who comes too late', async () => {
    await add(2)
    const stale = await claim(2)
    await stage.table.set('claimed_until', 1)
    await claim(2)
    const error = await caught(stage.shop.claims.complete(jobs, stale))
    expect((error as JobsLostError).lost).toHaveLength(2)
    expect(await doneIds()).toEqual([])
  })

  test('end with the transaction of the caller, or not at all', async () => {
    await add(3)
    const own = await claim(2)
    await caught(
      stage.shop.transaction(async (tx) => {
        await stage.shop.claims.complete(jobs, own, { tx })
        throw new Error('never mind')
      }),
    )
    expect(await doneIds()).toEqual([])
    const lost = { id: 3, token: 'a guess' }
    const error = await caught(
      stage.shop.transaction((tx) => stage.shop.claims.complete(jobs, [...own, lost], { tx })),
    )
    expect(error).toMatchObject({ name: 'LockLostError', lost: [lost] })
    expect(await doneIds(), 'the error has undone the rest').toEqual([])
    await stage.shop.transaction((tx) => stage.shop.claims.complete(jobs, own, { tx }))
    expect(await doneIds()).toEqual([1, 2])
  })

  test('may have ids that are texts of any kind', async () => {
    const titles = ['NULL', 'a,b', '{x}', 'say "no"', String.raw`back\slash`, "it''s", ' ']
    const escaped = stage.isDocuments ? titles : titles.map((title) => title.replaceAll("'", "''"))
    const safe = /^(?:mysql|mariadb)$/.test(stage.name)
      ? escaped.map((title) => title.replaceAll('\\', '\\\\'))
      : escaped
    await stage.table.add(safe.map((title, index) => ({ id: index + 1, title })))
    const claimed = await stage.shop.claims.claim(byTitle, { limit: 10 })
    expect(new Set(claimed.map(({ id }) => id))).toEqual(new Set(titles))
    await stage.shop.claims.complete(byTitle, claimed)
    expect(await doneIds()).toHaveLength(titles.length)
  })

  test('may be more than one statement takes', async () => {
    await add(1100)
    await stage.shop.claims.complete(jobs, await claim(1100))
    expect(await stage.table.countReady()).toBe(0)
  })
}

/** Ends that do not ask whose the jobs are. */
function careless(dialect: Dialect): Dialect {
  const changed = (claim: ClaimStatements): ClaimStatements => {
    const { completeAll } = claim
    if (completeAll === undefined) throw new Error(`${dialect.name} ends jobs one by one`)
    return {
      ...claim,
      completeAll: (...call) => {
        const { look, change } = completeAll(...call)
        return { change: withoutToken(change), ...(look && { look: withoutToken(look) }) }
      },
    }
  }
  return { ...dialect, claim: (use) => dialect.claim((claim) => use(changed(claim))) }
}

/** The condition stays in the text, so that the parameters stay as they are, and holds for every row. */
function withoutToken(statement: Statement): Statement {
  if (!isSql(statement)) return statement
  return {
    ...statement,
    sql: statement.sql.replace(/ AND (\S*claim_token\S*) = (\$\d+|\?)/, ' AND ($1 = $2 OR 1 = 1)'),
  }
}

describe('without the token in the statement', () => {
  describeQueues(
    (stage) => {
      test('a stale worker ends the jobs of another; with it, none', async () => {
        const { url } = stage.engine.server
        const shop = await openWorkshop(stage.name, url, { dialect: careless(dialectOf(stage.name)) })
        const contest = async (claims: typeof shop.claims): Promise<unknown> => {
          await stage.table.empty()
          await stage.table.add([{ id: 1 }, { id: 2 }])
          const stale = await claims.claim(jobs, { limit: 2 })
          await stage.table.set('claimed_until', 1)
          await claims.claim(jobs, { limit: 2 })
          return caught(claims.complete(jobs, stale))
        }
        try {
          expect(await contest(stage.shop.claims)).toBeInstanceOf(JobsLostError)
          expect(await stage.table.countReady()).toBe(2)
          expect(await contest(shop.claims), 'the defect is there').toBe('no error')
          expect(await stage.table.countReady()).toBe(0)
        } finally {
          await shop.close()
        }
      })
    },
    { only: ['postgres', 'mysql', 'mariadb', 'sqlite', 'duckdb'] },
  )
})

test('an array of PostgreSQL has each value quoted that could be taken for something else', () => {
  expect(arrayText([1, 2n, true])).toBe('{1,2,true}')
  expect(arrayText(['NULL', 'a"b', String.raw`a\b`])).toBe(String.raw`{"NULL","a\"b","a\\b"}`)
  expect(arrayText([new Uint8Array([1, 255])])).toBe(String.raw`{"\\x01ff"}`)
  expect(arrayText([1, new Date(0)]), 'drivers write a time in different ways').toBeUndefined()
})
