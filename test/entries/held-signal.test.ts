import type { EventEmitter } from 'node:events'
import mysql from 'mysql2/promise'
import pg from 'pg'
import { afterEach, describe, expect, test } from 'vitest'

import { LockLostError } from '../../src/core/errors.ts'
import { createLocks as createMysqlLocks } from '../../src/entries/mysql2.ts'
import { createLocks as createPgLocks } from '../../src/entries/pg.ts'
import type { LockInTransaction } from '../../src/locks/named/held-lock.ts'
import { describeEngines } from '../engines/use.ts'
import { caught } from './stage.ts'

const undo: (() => unknown)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step()
})

/** A connection that the server can be asked to end, and how often somebody listens to it. */
interface Victim {
  /** Settles when the driver has told that it is gone. */
  readonly kill: () => Promise<unknown>
  readonly listeners: () => number
}

type Work = (victim: Victim, held: LockInTransaction) => Promise<void>

function onPg(url: string): (work: Work) => Promise<void> {
  const pool = new pg.Pool({ connectionString: url, max: 2 })
  pool.on('error', () => {})
  undo.push(() => pool.end())
  const locks = createPgLocks(pool)
  return (work) =>
    locks.withLock('watched', async (tx, held) => {
      const { processID } = tx as unknown as { readonly processID: number }
      const kill = (): Promise<unknown> =>
        untilBroken(tx, pool.query('select pg_terminate_backend($1)', [processID]))
      await work({ kill, listeners: () => tx.listenerCount('error') + tx.listenerCount('end') }, held)
    })
}

function onMysql(url: string): (work: Work) => Promise<void> {
  const pool = mysql.createPool({ uri: url, connectionLimit: 2 })
  undo.push(() => pool.end())
  const locks = createMysqlLocks(pool)
  return (work) =>
    locks.withLock('watched', async (tx, held) => {
      const { connection } = tx as unknown as { readonly connection: EventEmitter }
      const kill = (): Promise<unknown> => untilBroken(connection, pool.query(`KILL ${tx.threadId}`))
      const listeners = (): number => connection.listenerCount('error') + connection.listenerCount('end')
      await work({ kill, listeners }, held)
    })
}

function untilBroken(connection: EventEmitter, killing: Promise<unknown>): Promise<unknown> {
  const broken = new Promise((resolve) => connection.once('error', resolve))
  return Promise.all([broken, killing])
}

const ways = { postgres: onPg, mysql: onMysql, mariadb: onMysql }

describe('the signal of a lock that is held', () => {
  describeEngines(
    (context) => {
      const withLock: (work: Work) => Promise<void> = (work) =>
        ways[context.name as keyof typeof ways](context.engine.server.url)(work)

      test('has aborted when it is asked for after the connection broke', async () => {
        let reason: unknown
        const broken = withLock(async ({ kill }, held) => {
          await kill()
          reason = held.signal.reason
        })
        await caught(broken)
        expect(reason).toBeInstanceOf(LockLostError)
      })

      test('listens to the connection only when it is asked for, and never after the work', async () => {
        let kept: LockInTransaction | undefined
        let count: () => number = () => NaN
        let asked = NaN
        await withLock(async (victim, held) => {
          kept = held
          count = victim.listeners
          const before = victim.listeners()
          held.signal.throwIfAborted()
          asked = victim.listeners() - before
        })
        const after = count()
        await withLock(async (_, held) => void (kept = held))
        expect(asked).toBeGreaterThan(0)
        expect(kept?.signal.aborted).toBe(false)
        expect(count()).toBe(after)
      })
    },
    { only: Object.keys(ways) },
  )
})
