import { Kysely, type Transaction } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { LockUsageError } from '../../src/core/errors.ts'
import { createLocks, type KyselyLocks } from '../../src/entries/kysely.ts'
import { dialects, type ServerName } from '../entries/kysely-dialects.ts'
import { caught } from '../entries/stage.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'

interface Notes {
  note: { id: number }
}

type Tx = Transaction<Notes>
type Send = () => Promise<unknown>

const noteBy = (tx: Pick<Tx, 'insertInto'>) => tx.insertInto('note').values({ id: 9 })

/** What a work may take from its tx, and keep: each stores a note when it is called. */
const handles: readonly (readonly [string, (tx: Tx) => Send | Promise<Send>])[] = [
  [
    'tx.executeQuery',
    (tx) => {
      const executeQuery: Tx['executeQuery'] = Reflect.get(tx, 'executeQuery')
      const query = noteBy(tx).compile()
      return async () => executeQuery(query)
    },
  ],
  [
    'tx.getExecutor()',
    (tx) => {
      const executor = tx.getExecutor()
      const query = noteBy(tx).compile()
      return () => executor.executeQuery(query)
    },
  ],
  [
    'the connection of that',
    async (tx) => {
      const connection = await tx.getExecutor().provideConnection(async (given) => given)
      const query = noteBy(tx).compile()
      return async () => connection.executeQuery(query)
    },
  ],
  [
    'tx.with().withoutPlugins()',
    (tx) => {
      const creator = tx.with('other', (query) => query.selectFrom('note').selectAll()).withoutPlugins()
      return () => noteBy(creator).execute()
    },
  ],
]

describe('what a work has taken from its tx', () => {
  describeEngines(specs, { only: Object.keys(dialects) })
})

function specs(context: EngineContext): void {
  const name = context.name as ServerName
  let db: Kysely<Notes>
  let locks: KyselyLocks<Tx, ServerName>
  beforeAll(async () => {
    db = new Kysely<Notes>({ dialect: dialects[name](context.engine.server.url) })
    locks = createLocks(db, { dialect: name })
    await db.schema
      .createTable('note')
      .addColumn('id', 'integer', (column) => column.primaryKey())
      .execute()
  })
  beforeEach(() => db.deleteFrom('note').execute())
  afterAll(() => db.destroy())
  const stored = async (): Promise<readonly unknown[]> => db.selectFrom('note').select('id').execute()
  const refuses = async (late: Send | undefined): Promise<void> => {
    await locks.transaction(async (tx) => {
      await tx.insertInto('note').values({ id: 1 }).execute()
      expect(await caught(Promise.resolve().then(late))).toBeInstanceOf(LockUsageError)
    })
    expect(await stored()).toEqual([{ id: 1 }])
  }

  // the WITH of MySQL comes behind INSERT, where Kysely does not put it
  const usable = handles.filter(
    ([title]) => !title.startsWith('tx.with') || name === 'postgres' || name === 'sqlite',
  )

  describe.each(usable)('%s', (_, take) => {
    test('is refused in the next transaction', async () => {
      const [late] = await locks.transaction(async (tx) => [await take(tx)])
      await refuses(late)
    })

    // SQLite has run it before the work returns
    test.skipIf(name === 'sqlite')(
      'fails the transaction when nobody waits for it and it fails',
      async () => {
        const failing = locks.transaction(async (tx) => {
          const send = await take(tx)
          await noteBy(tx).execute()
          void caught(send())
        })
        expect(await caught(failing)).toBeInstanceOf(LockUsageError)
        expect(await stored()).toEqual([])
      },
    )
  })

  test('is refused when it is for the schema', async () => {
    const [schema, introspection] = await locks.transaction(async (tx) => {
      expect(await tx.introspection.getTables()).toContainEqual(expect.objectContaining({ name: 'note' }))
      return [tx.schema.withoutPlugins(), tx.introspection]
    })
    await refuses(() => schema.createTable('other').addColumn('id', 'integer').execute())
    await db.deleteFrom('note').execute()
    await refuses(() => introspection.getTables())
  })
}
