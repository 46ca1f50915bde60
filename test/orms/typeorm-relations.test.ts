import { DataSource, EntitySchema, type EntityManager, type SelectQueryBuilder } from 'typeorm'
import { afterEach, beforeEach, expect, test } from 'vitest'

import { createLocks } from '../../src/entries/typeorm.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'
import { accounts } from './stage.ts'
import { openTypeorm, typeorm } from './typeorm.ts'

describeEngines(specs, { only: typeorm.engines })

interface Note {
  readonly id: number
  readonly account: Owner
}

interface Owner {
  readonly id: number
  readonly notes?: readonly Note[]
}

const owner = new EntitySchema<Owner>({
  name: 'owner',
  tableName: 'account',
  columns: { id: { type: Number, primary: true } },
  relations: { notes: { type: 'one-to-many', target: 'note', inverseSide: 'account' } },
})

const note = new EntitySchema<Note>({
  name: 'note',
  columns: { id: { type: Number, primary: true } },
  relations: {
    account: {
      type: 'many-to-one',
      target: 'owner',
      inverseSide: 'notes',
      joinColumn: { name: 'account_id' },
    },
  },
})

const notes: readonly string[] = [
  'DROP TABLE IF EXISTS note',
  'CREATE TABLE note (id integer PRIMARY KEY, account_id integer NOT NULL)',
  'INSERT INTO note VALUES (1, 1), (2, 1)',
]

type Build = (tx: EntityManager) => SelectQueryBuilder<Owner>

function specs(context: EngineContext): void {
  let source: DataSource
  beforeEach(async () => {
    const session = await context.engine.open()
    for (const sql of [...accounts, ...notes]) await session.run({ sql, params: [] })
    await session.close()
    const known = await openTypeorm(context.name, context.engine.server.url, 2)
    await known.destroy()
    source = await new DataSource({ ...known.options, entities: [owner, note] }).initialize()
  })
  afterEach(() => source.destroy())

  const reading = (build: Build): Promise<readonly Owner[]> => {
    const locks = createLocks(source)
    return locks.transaction((tx) => locks.rows(tx, build(tx)))
  }

  const one = (tx: EntityManager) => tx.createQueryBuilder(owner, 'o').where('o.id = 1')

  test.each<[string, Build]>([
    [
      'by the strategy query',
      (tx) => one(tx).setFindOptions({ relations: { notes: true }, relationLoadStrategy: 'query' }),
    ],
    ['as identifiers', (tx) => one(tx).loadRelationIdAndMap('o.noteIds', 'o.notes')],
    ['behind a page of its own', (tx) => one(tx).innerJoinAndSelect('o.notes', 'n').take(1)],
  ])('%s takes another SELECT, and is refused', async (_, build) => {
    await expect(reading(build)).rejects.toThrow('takes more than one SELECT')
  })

  test('by a join is locked with the rest', async () => {
    const [found] = await reading((tx) => one(tx).innerJoinAndSelect('o.notes', 'n'))
    expect(found?.notes?.map(({ id }) => id).toSorted()).toEqual([1, 2])
  })
}
