import { expect, test } from 'vitest'

import type { Inspection } from '../../../src/core/inspection.ts'
import type { Row } from '../../../src/core/statement.ts'
import { inspector } from '../../../src/dialects/mongodb/inspect.ts'
import type { EngineSession } from '../../engines/engine.ts'
import { until } from '../../engines/use.ts'
import { describeInspect } from './stage.ts'

describeInspect(
  (stage) => {
    const of = ({ sessions }: Inspection, { id }: EngineSession): Inspection['sessions'] =>
      sessions.filter((session) => session.id === id)

    test('an open transaction is seen, and a write that waits for it', async () => {
      const { locks } = await stage.process()
      const [holder, writer] = [await stage.engine.open(), await stage.engine.open()]
      for (const statement of stage.kind.sample.setUp) await holder.run(statement)
      expect(of(await locks.inspect(), holder)).toEqual([]) // control: it has no transaction yet
      await holder.begin()
      await holder.run(stage.kind.sample.increment)
      const [idle] = of(await locks.inspect(), holder)
      expect(idle).toMatchObject({ state: 'idle-in-transaction', holds: [{ kind: 'transaction' }] })
      expect(idle?.transactionMs).toBeGreaterThanOrEqual(0)
      const writing = writer.run(stage.kind.sample.increment)
      await until(async () => of(await locks.inspect(), writer).length === 1, 'a write that is seen')
      expect(of(await locks.inspect(), writer)).toMatchObject([
        {
          state: 'waiting',
          waits: { lock: { kind: 'row', on: expect.stringMatching(/^a document of .+\.counter$/) } },
          statement: expect.stringMatching(/^update .*"\$inc"/),
        },
      ])
      await holder.rollback()
      await writing
      await until(async () => of(await locks.inspect(), holder).length === 0, 'a transaction that has ended')
      await holder.close()
      await writer.close()
    })

    test('a command that waits for a collection is seen', async () => {
      const { locks } = await stage.process()
      const [holder, dropper] = [await stage.engine.open(), await stage.engine.open()]
      await holder.run({ command: { insert: 'dropped', documents: [{ _id: 1 }] } })
      await holder.begin()
      await holder.run({
        command: { update: 'dropped', updates: [{ q: { _id: 1 }, u: { $set: { n: 1 } } }] },
      })
      const dropping = dropper.run({ command: { drop: 'dropped' } })
      await until(async () => of(await locks.inspect(), dropper).length === 1, 'a drop that is seen')
      expect(of(await locks.inspect(), dropper)).toMatchObject([
        {
          state: 'waiting',
          holds: [],
          waits: { lock: { kind: 'table', on: expect.stringContaining('dropped') } },
        },
      ])
      await holder.rollback()
      await dropping
      await holder.close()
      await dropper.close()
    })

    test('what runs in another database is seen in the scope of the server alone', async () => {
      const { locks } = await stage.process()
      const [here] = await inNamespace(`${await databaseOf(stage)}.counter`)
      expect(here).toBe(1)
      expect(await inNamespace('elsewhere.counter')).toEqual([0, 1])
      expect(await inNamespace('')).toEqual([1, 1]) // of an idle transaction nobody knows the database
      expect((await locks.inspect({ scope: 'server' })).unseen.length).toBeGreaterThan(0)
    })

    /** How many sessions are shown of one that runs there, in the scope of the database and in that of the server. */
    const inNamespace = async (ns: string): Promise<readonly number[]> => {
      const { sessions } = await stage.process()
      const session = await sessions.open()
      const operation: Row = { ns, active: true, opid: 1, transaction: { timeOpenMicros: 1000 } }
      const counts: number[] = []
      for (const scope of ['database', 'server'] as const) {
        const { place } = inspector.questions(scope, [8, 0, 0])
        const reply = place && (await session.run(place.ask))
        counts.push(inspector.read({ all: [operation], place: reply }).sessions.length)
      }
      await session.release()
      return counts
    }

    test('a command reaches the database that it names, in a transaction too', async () => {
      const { sessions } = await stage.process()
      const session = await sessions.open()
      const ask = { aggregate: 1, pipeline: [{ $currentOp: {} }], cursor: {} }
      await expect(session.run({ command: ask })).rejects.toThrow(/admin/)
      expect((await session.run({ command: ask, database: 'admin' })).length).toBeGreaterThan(0)
      const other = `${await databaseOf(stage)}_other`
      await session.run({ database: other, command: { create: 'there' } })
      await session.begin()
      await session.run({ database: other, command: { insert: 'there', documents: [{ _id: 1 }] } })
      await session.rollback()
      expect(await session.run({ database: other, command: { find: 'there' } })).toEqual([])
      await session.run({ database: other, command: { dropDatabase: 1 } })
      await session.release()
    })
  },
  ['mongodb'],
)

async function databaseOf(stage: {
  readonly engine: { readonly server: { readonly url: string } }
}): Promise<string> {
  return new URL(stage.engine.server.url).pathname.slice(1)
}

test('a user who may not see all operations sees those of his own', () => {
  const operation: Row = {
    lsid: { id: 'one' },
    active: true,
    appName: 'app',
    effectiveUsers: [{ user: 'reader', db: 'admin' }],
    transaction: { timeOpenMicros: 2500 },
    op: 'command',
    ns: 'app.account',
    command: { find: 'account', lsid: { id: 'one' }, $db: 'app' },
    locks: { Global: 'r' },
  }
  expect(inspector.read({ all: undefined, own: [operation], leases: [], place: undefined }).sessions).toEqual(
    [
      {
        id: 'one',
        user: 'reader',
        application: 'app',
        state: 'active',
        transactionMs: 3,
        statement: 'command app.account {"find":"account"}',
        holds: [{ kind: 'transaction', mode: 'r', on: 'what its transaction has written' }],
      },
    ],
  )
})
