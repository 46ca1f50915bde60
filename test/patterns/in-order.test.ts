import { expect, test } from 'vitest'

import { LockUsageError } from '../../src/core/errors.ts'
import type { ErrorKind } from '../../src/core/error-kind.ts'
import type { Target } from '../../src/core/request.ts'
import type { Row, Statement } from '../../src/core/statement.ts'
import type { TransactionOptions } from '../../src/locks/transaction/options.ts'
import type { Resource } from '../../src/locks/patterns/resource-order.ts'
import type { EngineSession } from '../engines/engine.ts'
import { until } from '../engines/until.ts'
import { meetingOf } from '../stories/meeting.ts'
import { caught, describePatterns, type Node } from './stage.ts'

const account = (id: number | readonly number[]): Target => ({ table: 'account', key: { id } })
const note = (code: string): Target => ({ table: 'note', key: { code } })
const patience = { timeout: 600_000 }
/** Names can be joined to a transaction only where it goes on to read what is new. */
const options: TransactionOptions = { isolation: 'read committed' }

function idsOf(rows: readonly Row[]): readonly number[] {
  return rows.map(({ id }) => Number(id))
}

describePatterns(
  (stage) => {
    const locked = async (resources: readonly Resource[]): Promise<readonly (readonly number[])[]> => {
      const node = stage.node()
      return node.meeting.shared.transaction(
        async (tx) => (await node.inOrder(tx, resources)).map(({ rows }) => idsOf(rows)),
        options,
      )
    }

    test('the rows come back for each resource, in the order in which they were asked for', async () => {
      const resources = [account(3), { name: 'month end' }, account([2, 1]), account(3), account(99)]
      expect(await locked(resources)).toEqual([[3], [], [1, 2], [3], []])
      expect(await locked([{ name: ['b', 1] }, { name: 'a' }, { name: ['b', 1] }])).toEqual([[], [], []])
      expect(await locked([account([1, 99])])).toEqual([[1]])
    })

    test('rows with keys of several columns are locked one by one, and come back alike', async () => {
      const row = (id: number | readonly number[], label: string | readonly string[]): Target => ({
        table: 'account',
        key: { id, label },
      })
      expect(await locked([row(3, 'a3'), row([1, 2], ['a1', 'a2']), row(1, 'a3')])).toEqual([[3], [1, 2], []])
    })

    test('a receipt tells what was taken for each', async () => {
      const node = stage.node()
      const all = await node.meeting.shared.transaction(
        (tx) => node.inOrder(tx, [account(2), { name: 'month end' }]),
        options,
      )
      expect(all.map(({ receipt }) => receipt.category)).toEqual(['row-exclusive', 'advisory'])
      expect(all.every(({ receipt }) => receipt.granted === 'exclusive')).toBe(true)
    })

    test('a mistake in the call is named', async () => {
      const call = (resources: unknown, more = {}): Promise<unknown> => {
        const node = stage.node()
        return caught(
          node.meeting.shared.transaction((tx) => node.inOrder(tx, resources as Resource[], more), options),
        )
      }
      expect(await call([])).toMatchObject({ field: 'resources' })
      expect(await call('account')).toMatchObject({ field: 'resources' })
      expect(await call([7])).toMatchObject({ field: 'resources[0]' })
      expect(await call([{ table: 'account', key: {} }])).toMatchObject({ field: 'target.key' })
      expect(await call([{ name: '' }])).toMatchObject({ field: 'key[0]' })
      expect(await call([{ name: 'a', table: 'account' }])).toMatchObject({ field: 'resources[0].table' })
      expect(await call([account(1)], { savepoint: true })).toMatchObject({ field: 'savepoint' })
      const mixed = await call([account(1), { table: 'account', key: { label: 'a2' } }])
      expect(mixed).toBeInstanceOf(LockUsageError)
      expect(String(mixed)).toContain('by the same columns')
      const many = Array.from({ length: 1001 }, (_, id) => account(id))
      expect(String(await call(many))).toContain('1001 are too many')
    })

    /** Two workers that want the same in opposite orders, over and over. Gives why they were repeated. */
    const cross = async (
      resources: readonly Resource[],
      take: (node: Node, tx: unknown, wanted: readonly Resource[]) => Promise<unknown>,
    ): Promise<readonly ErrorKind[]> => {
      const kinds: ErrorKind[] = []
      const start = meetingOf(2)
      const work = async (worker: number, wanted: readonly Resource[]): Promise<void> => {
        const node = stage.node(worker)
        for (let round = 0; round < 15; round += 1) {
          await start.meet()
          await node.meeting.shared.transaction((tx) => take(node, tx, wanted), {
            ...options,
            attempts: 100,
            onRetry: ({ kind }) => void kinds.push(kind),
          })
        }
      }
      await Promise.all([work(0, resources), work(1, resources.toReversed())])
      return kinds
    }

    test('two who name the same in opposite orders never deadlock', patience, async () => {
      await stage.run(stage.sql.addNote('x'))
      const resources = [account(1), { name: 'a' }, note('x'), account([3, 2]), { name: 'b' }]
      const kinds = await cross(resources, async (node, tx, wanted) => {
        const all = await node.inOrder(tx, wanted)
        expect(all.flatMap(({ rows }) => rows)).toHaveLength(4)
        await node.run(tx, stage.sql.setBalance(2, 1))
      })
      expect(kinds).not.toContain('deadlock')
    })

    test(
      'two who name the same keys of several columns in opposite orders never deadlock',
      patience,
      async () => {
        const resources = [1, 2, 3].map((id) => ({ table: 'account', key: { id, label: `a${id}` } }))
        const kinds = await cross(resources, (node, tx, wanted) => node.inOrder(tx, wanted))
        expect(kinds).not.toContain('deadlock')
      },
    )
  },
  { nodes: 2 },
)

const servers: Readonly<Record<string, { readonly ownId: string; readonly nowait: string }>> = {
  postgres: { ownId: 'SELECT pg_backend_pid() AS id', nowait: 'FOR UPDATE NOWAIT' },
  mysql: { ownId: 'SELECT CONNECTION_ID() AS id', nowait: 'FOR UPDATE NOWAIT' },
  mariadb: { ownId: 'SELECT CONNECTION_ID() AS id', nowait: 'FOR UPDATE NOWAIT' },
}

describePatterns(
  (stage) => {
    const { ownId = '', nowait = '' } = servers[stage.name] ?? {}
    const sql = (text: string): Statement => ({ sql: text, params: [] })

    test('in the order given, without inOrder, the same two deadlock', async () => {
      const kinds: ErrorKind[] = []
      const bothHaveOne = meetingOf(2)
      const work = (worker: number, ids: readonly [number, number]): Promise<void> => {
        const node = stage.node(worker)
        let runs = 0
        return node.meeting.shared.transaction(
          async (tx) => {
            runs += 1
            await node.rows(tx, account(ids[0]))
            if (runs === 1) await bothHaveOne.meet()
            await node.rows(tx, account(ids[1]))
          },
          { ...options, onRetry: ({ kind }) => void kinds.push(kind) },
        )
      }
      await Promise.all([work(0, [1, 2]), work(1, [2, 1])])
      expect(kinds).toEqual(['deadlock'])
    })

    for (const isolation of ['read committed', 'repeatable read'] as const) {
      test(`one statement locks many keys in the order of the keys at ${isolation}`, async () => {
        const node = stage.node()
        const holder = await stage.engine.open()
        const prober = await stage.engine.open()
        const isFree = async (id: number): Promise<boolean> => {
          await prober.begin()
          const error = await caught(prober.run(sql(`SELECT id FROM account WHERE id = ${id} ${nowait}`)))
          await prober.rollback()
          return error === 'no error'
        }
        try {
          await holder.begin()
          await holder.run(sql('SELECT id FROM account WHERE id = 2 FOR UPDATE'))
          let waiter = ''
          const waiting = node.meeting.shared.transaction(
            async (tx) => {
              waiter = String((await node.run(tx, sql(ownId)))[0]?.id)
              const [first] = await node.inOrder(tx, [account([3, 1, 2])])
              return idsOf(first?.rows ?? [])
            },
            { isolation },
          )
          const session = (): EngineSession => ({ id: waiter }) as EngineSession // it looks at no more
          await until(
            async () => waiter !== '' && (await stage.engine.isWaiting(session())),
            'a wait for row 2',
          )
          expect([await isFree(1), await isFree(3)]).toEqual([false, true])
          await holder.rollback()
          expect(await waiting).toEqual([1, 2, 3])
        } finally {
          await holder.close()
          await prober.close()
        }
      })
    }
  },
  { nodes: 2, only: Object.keys(servers) },
)
