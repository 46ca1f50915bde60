import type pg from 'pg'
import { describe, expect, test } from 'vitest'

import { LockTimeoutError } from '../../src/core/errors.ts'
import type { WaitOf } from '../../src/locks.ts'
import type { WithLockOptions } from '../../src/locks/named/lock-options.ts'
import type { TransactionOptions } from '../../src/locks/transaction/options.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'
import { connected, type Subject, type Tx } from './subject.ts'

const body = 'select n from account where id = 1 for update'
const account = { table: 'account', key: { id: 1 } }

describe('round trips beyond the statements of the work', () => {
  describeEngines(postgresSpecs, { only: ['postgres'] })
  describe('where the beginning rides with the first of them', () => {
    describeEngines(ridingSpecs, { only: ['postgres'] })
  })
  describeEngines(mysqlSpecs, { only: ['mysql', 'mariadb'] })
})

/** With the level that the lock was planned for. */
const levelled = 'BEGIN ISOLATION LEVEL READ COMMITTED'
/** In milliseconds, however slow the machine. */
const nearlyAMinute = String.raw`(?:60000|[1-5]\d{4})`
const namedLock = String.raw`SELECT pg_advisory_xact_lock\('-?\d+'::bigint\) /\* hf:[a-z]+ \*/`
const numberColumn = String.raw`(pg_current_xact_id\(\)|txid_current\(\)::text) AS id`
/** Where it is the last one, it gives the transaction's number too. */
const lockWithNumber = namedLock.replace(' /', `, ${numberColumn} /`)
/** Under a timeout of their own, which is set with the first one and put back with the last. */
const locksInAMinute = [
  namedLock.replace(
    'SELECT ',
    String.raw`SELECT set_config\('holdfast.lock_timeout', current_setting\('lock_timeout'\), true\), set_config\('lock_timeout', '${nearlyAMinute}', true\), `,
  ),
  namedLock,
  namedLock.replace(
    ' /',
    String.raw`, set_config\('lock_timeout', current_setting\('holdfast.lock_timeout'\), true\), ${numberColumn} /`,
  ),
]

/** The number of the transaction, by which the server is asked about a COMMIT that it did not answer. */
const number = `SELECT ${numberColumn}`
const together = (...texts: string[]): unknown => expect.stringMatching(new RegExp(`^${texts.join('; ')}$`))

function postgresSpecs(context: EngineContext): void {
  const subject = connected(context)
  const beginning = (words: string): unknown => together(words, number)
  const seen = async (tx: Tx): Promise<unknown> =>
    ((await tx.query('show lock_timeout')) as pg.QueryResult<{ lock_timeout: string }>).rows[0]?.lock_timeout

  test('a transaction costs 1, the end: a beginning that waits for nothing travels with its first statement', async () => {
    expect(await tripsOf(subject(), run)).toEqual([together('BEGIN', number, body), 'COMMIT'])
  })

  test('a transaction with a lock timeout costs 1: the timeout travels with the beginning', async () => {
    const trips = await tripsOf(subject(), run, { lockTimeoutMs: 2000 })
    expect(trips).toEqual([together('BEGIN', 'SET LOCAL lock_timeout = 2000', number, body), 'COMMIT'])
  })

  test('what is left of a budget travels with the beginning, in a statement that is there already', async () => {
    const lower = String.raw`set_config\('lock_timeout', CASE .* '${nearlyAMinute}' END, true\)`
    const numbered = `SELECT ${lower}, ${numberColumn}`
    const trips = await tripsOf(subject(), run, { budgetMs: 60_000 })
    expect(trips).toEqual([together('BEGIN', numbered, body), 'COMMIT'])
    const named = await lockedTripsOf(subject(), ['named'], { budgetMs: 60_000 })
    const locking = lockWithNumber.replace('SELECT ', `SELECT ${lower}, `)
    expect(named).toEqual([together(levelled, locking), body, 'COMMIT'])
  })

  test('a transaction without statements costs 2', async () => {
    expect(await tripsOf(subject(), async () => {})).toEqual([beginning('BEGIN'), 'COMMIT'])
  })

  test('work that throws before its first statement costs 2, and not the connection', async () => {
    const mine = new Error('of the work')
    const work = (): Promise<void> => Promise.reject(mine)
    const trips = await subject().proxy.during(() =>
      expect(subject().locks.transaction(work)).rejects.toBe(mine),
    )
    expect(trips).toEqual([beginning('BEGIN'), 'ROLLBACK'])
  })

  test.each(['block', 'nowait', 'skip'] as const)('rows with %s cost their SELECT alone', async (wait) => {
    const trips = await tripsOf(subject(), lockWith(wait), { lockTimeoutMs: 2000 })
    const select = 'SELECT \\* FROM "account" .* FOR UPDATE.*'
    expect(trips).toEqual([together('BEGIN', 'SET LOCAL lock_timeout = 2000', number, select), 'COMMIT'])
  })

  test('rows with a timeout of their own cost 2 more: to set it, and to put the old one back', async () => {
    const [, ...rest] = await tripsOf(subject(), lockWith({ timeoutMs: 1500 }), { lockTimeoutMs: 2000 })
    expect(rest).toEqual([
      expect.stringMatching(/; SET LOCAL lock_timeout = 1500$/),
      expect.stringMatching(/^SELECT \* FROM "account"/),
      expect.stringMatching(/^SELECT set_config\('lock_timeout'/),
      'COMMIT',
    ])
  })

  test('a transaction under a named lock, with a lock timeout, costs 2: both travel with the beginning', async () => {
    const trips = await lockedTripsOf(subject(), ['named'], { lockTimeoutMs: 2000 })
    const text = new RegExp(`^${levelled}; SET LOCAL lock_timeout = 2000; ${lockWithNumber}$`)
    expect(trips).toEqual([expect.stringMatching(text), body, 'COMMIT'])
  })

  test('many names cost no more than one, and a timeout of their own costs nothing', async () => {
    const trips = await lockedTripsOf(subject(), ['a', 'b', 'c'], { wait: { timeoutMs: 60_000 } })
    // the time that is left of it: the wait for a turn in this process counts
    expect(trips).toEqual([together(levelled, ...locksInAMinute), body, 'COMMIT'])
  })

  test('a named lock that joins the transaction costs 1, and a timeout of its own costs nothing', async () => {
    const work: Work = async ({ locks }, tx) => {
      await tx.query(body)
      await locks.lock(tx, 'joined', { wait: { timeoutMs: 1500 } })
      expect(await seen(tx)).toBe('2500ms')
    }
    const [, ...rest] = await tripsOf(subject(), work, { lockTimeoutMs: 2500, isolation: 'read committed' })
    expect(rest).toEqual([
      expect.stringMatching(
        /^SELECT set_config\(.*'1500', true\), pg_advisory_xact_lock\(\$1::bigint\), set_config\(/,
      ),
      'show lock_timeout',
      'COMMIT',
    ])
  })

  test('a named lock that is only tried costs 3, since its answer has to be read', async () => {
    const trips = await lockedTripsOf(subject(), ['tried'], { wait: 'nowait' })
    expect(trips).toEqual([
      beginning(levelled),
      expect.stringMatching(/^SELECT pg_try_advisory_xact_lock/),
      body,
      'COMMIT',
    ])
  })

  test('the timeout of the transaction is there again after a named lock that had its own', async () => {
    const { locks } = subject()
    const wait = { timeoutMs: 1500 }
    expect(await locks.withLock('own', seen, { wait, lockTimeoutMs: 2500 })).toBe('2500ms')
    expect(await locks.withLocks(['one', 'two'], seen, { wait, lockTimeoutMs: 2500 })).toBe('2500ms')
    expect(await locks.withLock('own', seen, { wait })).toBe('0')
  })

  test('the timeout of the transaction is there again after rows that had their own', async () => {
    await subject().locks.transaction(
      async (tx) => {
        await lockWith({ timeoutMs: 1500 })(subject(), tx)
        expect(await seen(tx)).toBe('2500ms')
      },
      { lockTimeoutMs: 2500 },
    )
    await subject().locks.transaction(async (tx) => expect(await seen(tx)).toBe('0'))
  })

  test('a lock timeout costs the ROLLBACK, and not the connection', async () => {
    const whoAmI = (): Promise<unknown> =>
      subject().locks.transaction(async (tx) => {
        const { rows } = (await tx.query('select pg_backend_pid() as pid')) as pg.QueryResult<{ pid: number }>
        return rows[0]?.pid
      })
    const before = await whoAmI()
    const [, ...rest] = await whileHeld(context, () => tripsOf(subject(), refused({ timeoutMs: 50 })))
    expect(rest).toEqual([
      expect.stringMatching(/; SET LOCAL lock_timeout = 50$/),
      expect.stringMatching(/^SELECT \* FROM "account"/),
      'ROLLBACK',
    ])
    expect(await whoAmI()).toBe(before)
  })
}

function ridingSpecs(context: EngineContext): void {
  const subject = connected(context, { pipeline: true })
  test('a transaction costs 1: the end', async () => {
    expect(await tripsOf(subject(), run)).toEqual([together('BEGIN', number, body), 'COMMIT'])
  })

  test('a transaction under a named lock, with a lock timeout, costs 1', async () => {
    const trips = await lockedTripsOf(subject(), ['named'], { lockTimeoutMs: 2000 })
    const head = together(levelled, 'SET LOCAL lock_timeout = 2000', lockWithNumber, body)
    expect(trips).toEqual([head, 'COMMIT'])
  })

  test('many names cost no more than one, and a timeout of their own costs nothing', async () => {
    const trips = await lockedTripsOf(subject(), ['a', 'b', 'c'], { wait: { timeoutMs: 60_000 } })
    expect(trips).toEqual([together(levelled, ...locksInAMinute, body), 'COMMIT'])
  })

  test('a named lock that is only tried costs 2, since its answer has to be read', async () => {
    const trips = await lockedTripsOf(subject(), ['tried'], { wait: 'nowait' })
    expect(trips).toEqual([together(levelled, number, 'SELECT pg_try_advisory_xact_lock.*'), body, 'COMMIT'])
  })

  test('rows cost their SELECT alone', async () => {
    const [, ...rest] = await tripsOf(subject(), lockWith('block'), { lockTimeoutMs: 2000 })
    expect(rest).toEqual(['COMMIT'])
  })
}

function mysqlSpecs(context: EngineContext): void {
  const subject = connected(context)
  const hasWaitClause = context.name === 'mariadb'
  const read = expect.stringMatching(/^SELECT \* FROM `account` .* FOR UPDATE/)
  const sets = expect.stringMatching(/^SET @holdfast_\w+ = @@SESSION/)
  const putsBack = expect.stringMatching(/^SET SESSION innodb_lock_wait_timeout = @holdfast_/)

  test('a transaction costs 2: the beginning and the end', async () => {
    expect(await tripsOf(subject(), run)).toEqual(['START TRANSACTION', body, 'COMMIT'])
  })

  test('a transaction with a lock timeout costs 4: one sets it before, one puts it back after', async () => {
    const trips = await tripsOf(subject(), run, { lockTimeoutMs: 2000 })
    expect(trips).toEqual([sets, 'START TRANSACTION', body, 'COMMIT', putsBack])
  })

  test.each(['block', 'nowait', 'skip'] as const)('rows with %s cost their SELECT alone', async (wait) => {
    expect(await tripsOf(subject(), lockWith(wait))).toEqual(['START TRANSACTION', read, 'COMMIT'])
  })

  const cost = hasWaitClause
    ? 'their SELECT alone: the clause says it'
    : '2 more: one sets it, one puts it back'
  test(`rows with a timeout of their own cost ${cost}`, async () => {
    const trips = await tripsOf(subject(), lockWith({ timeoutMs: 2000 }))
    const lock = hasWaitClause ? [read] : [sets, read, putsBack]
    expect(trips).toEqual(['START TRANSACTION', ...lock, 'COMMIT'])
  })

  test('a transaction under a named lock costs 4: the lock before the beginning, its release after the end', async () => {
    const trips = await lockedTripsOf(subject(), ['named'])
    const [take, release] = ['SELECT GET_LOCK', 'SELECT RELEASE_LOCK'].map((start) =>
      expect.stringMatching(new RegExp(`^${start}`)),
    )
    expect(trips).toEqual([take, 'START TRANSACTION', body, 'COMMIT', release])
  })

  test('a budget costs nothing', async () => {
    expect(await tripsOf(subject(), run, { budgetMs: 60_000 })).toEqual(['START TRANSACTION', body, 'COMMIT'])
    expect(await lockedTripsOf(subject(), ['named'], { budgetMs: 60_000 })).toHaveLength(5)
  })

  test('rows that stay locked for less than a second of waiting are asked for again and again', async () => {
    // long enough for a second try where one takes its time
    const trips = await whileHeld(context, () => tripsOf(subject(), refused({ timeoutMs: 900 })))
    expect(trips.length).toBeGreaterThan(3)
    expect(trips.slice(1, -1).every((text) => text.endsWith('FOR UPDATE NOWAIT'))).toBe(true)
    expect(trips.at(-1)).toBe('ROLLBACK')
  })
}

type Work = (subject: Subject, tx: Tx) => Promise<unknown>

const run: Work = (_, tx) => tx.query(body)

function lockWith(wait: WaitOf<'postgres' | 'mysql' | 'mariadb'>): Work {
  return ({ locks }, tx) => locks.rows(tx, account, { wait })
}

function refused(wait: { readonly timeoutMs: number }): Work {
  return async (subject, tx) => {
    await lockWith(wait)(subject, tx)
    throw new Error('the rows were free')
  }
}

/** The round trips of one transaction under named locks, once the server is known. */
async function lockedTripsOf(
  { proxy, locks }: Subject,
  names: readonly string[],
  options?: WithLockOptions,
): Promise<readonly string[]> {
  const inLocks = (): Promise<unknown> => locks.withLocks(names, (tx) => tx.query(body), options)
  await inLocks()
  return proxy.during(inLocks)
}

/** The round trips of one transaction. One that ends with a lock timeout has round trips as well. */
function tripsOf(subject: Subject, work: Work, options?: TransactionOptions): Promise<readonly string[]> {
  return subject.proxy.during(() =>
    subject.locks
      .transaction((tx) => work(subject, tx), options)
      .catch((error: unknown) => {
        if (!(error instanceof LockTimeoutError)) throw error
      }),
  )
}

/** Runs `work` while another connection, which is not counted, holds the row. */
async function whileHeld<T>({ engine }: EngineContext, work: () => Promise<T>): Promise<T> {
  const holder = await engine.open()
  await holder.begin()
  await holder.run({ sql: body, params: [] })
  try {
    return await work()
  } finally {
    await holder.rollback()
    await holder.close()
  }
}
