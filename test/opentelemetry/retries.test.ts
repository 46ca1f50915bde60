import { expect, test } from 'vitest'

import type { LockKey } from '../../src/core/key.ts'
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
    test('a deadlock is counted once, and the transaction that lost says that it ran again', async () => {
      const { spansOf, points, total } = record()
      const meeting = meetingOf(2)
      const take = (node: number, outer: LockKey, inner: LockKey): Promise<void> => {
        const { shared } = stage.node(node).meeting
        let runs = 0
        return shared.withLock(outer, async (tx) => {
          runs += 1
          if (runs === 1) await meeting.meet()
          await shared.lock(tx, inner)
        })
      }
      const [left, right] = [
        ['left', stage.name],
        ['right', stage.name],
      ]
      await Promise.all([take(0, left, right), take(1, right, left)])
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
      const meeting = meetingOf(2)
      const take = (node: number, outer: LockKey, inner: LockKey): Promise<void> => {
        const { shared } = stage.node(node).meeting
        const work = async (tx: unknown): Promise<void> => {
          await meeting.meet()
          await shared.lock(tx, inner)
        }
        return shared.withLock(outer, work, { attempts: 1 })
      }
      const [left, right] = [
        ['left', stage.name],
        ['right', stage.name],
      ]
      await Promise.allSettled([take(0, left, right), take(1, right, left)])
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
