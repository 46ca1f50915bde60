import { expect, test } from 'vitest'

import type { TransactionOptions } from '../../src/locks/transaction/options.ts'
import { gate } from '../entries/stage.ts'
import { meetingOf } from '../stories/meeting.ts'
import { caught, describePatterns } from '../patterns/stage.ts'
import { record } from './recorder.ts'

/** Ends the connection that the statement runs on. */
const kill: Readonly<Record<string, string>> = {
  postgres: 'select pg_terminate_backend(pg_backend_pid())',
  mysql: 'kill connection_id()',
  mariadb: 'kill connection_id()',
}

describePatterns(
  (stage) => {
    /** Two transactions lock two rows, each in another order: the first time, one of them loses. */
    const collide = (options: TransactionOptions): Promise<unknown> => {
      const meeting = meetingOf(2)
      const oneIsThrough = gate()
      const take = async (index: number, ...ids: readonly number[]): Promise<void> => {
        const node = stage.node(index)
        let runs = 0
        await node.meeting.shared.transaction(async (tx) => {
          runs += 1
          // or the one that is repeated may be faster than the one that was woken, and lose again
          if (runs > 1) await oneIsThrough.opened
          for (const id of ids) {
            await node.rows(tx, { table: 'account', key: { id } })
            if (runs === 1 && id === ids[0]) await meeting.meet()
          }
        }, options)
        oneIsThrough.open()
      }
      return Promise.allSettled([take(0, 1, 2), take(1, 2, 1)])
    }

    test('a deadlock is counted once, and the transaction that lost says that it ran again', async () => {
      const { spansOf, points, total } = record()
      await collide({})
      const [first, second] = spansOf('transaction').toSorted((a, b) => b.events.length - a.events.length)
      expect(second?.events).toEqual([])
      expect(first?.attributes).toMatchObject({
        'holdfast.transaction.attempts': 2,
        'holdfast.transaction.outcome': 'committed',
      })
      expect(first?.attributes).not.toHaveProperty('error.type')
      expect(first?.events).toMatchObject([
        {
          name: 'holdfast.transaction.retry',
          attributes: { 'error.type': 'deadlock', 'holdfast.transaction.attempts': 1 },
        },
      ])
      expect(await total('holdfast.deadlocks')).toBe(1)
      expect(await points('holdfast.transaction.retries')).toMatchObject([
        { value: 1, attributes: { 'error.type': 'deadlock' } },
      ])
      expect(await points('holdfast.transaction.attempts')).toMatchObject([{ value: 2, sum: 3 }])
      expect(await total('holdfast.lock.held')).toBe(0)
    })

    test('a deadlock that ends the call is counted once too', async () => {
      const { spansOf, total } = record()
      await collide({ attempts: 1 })
      const lost = spansOf('transaction').filter(({ attributes }) => attributes['error.type'] === 'deadlock')
      expect(lost).toHaveLength(1)
      expect(await total('holdfast.deadlocks')).toBe(1)
      expect(await total('holdfast.transaction.retries')).toBe(0)
      expect(await total('holdfast.lock.held')).toBe(0)
    })

    test('a lock whose connection is ended is counted as lost', async () => {
      const node = stage.node()
      const { points, total } = record()
      const sql = kill[stage.name] ?? ''
      await caught(
        node.meeting.shared.withLock(['lost', stage.name], (tx) => node.run(tx, { sql, params: [] }), {
          attempts: 1,
        }),
      )
      expect(await total('holdfast.lock.lost')).toBe(1)
      expect(await total('holdfast.lock.held')).toBe(0)
      expect(await points('holdfast.lock.hold.duration')).toMatchObject([
        { value: 1, attributes: { 'holdfast.lost': true } },
      ])
    })
  },
  { nodes: 2, only: ['postgres', 'mysql', 'mariadb'] },
)
