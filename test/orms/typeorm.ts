import { DataSource, EntitySchema, type DataSourceOptions, type EntityManager } from 'typeorm'

import { createLocks } from '../../src/entries/typeorm.ts'
import type { Account, Orm, OrmStage, StageOptions } from './stage.ts'

/** The column is not called what the property is: what TypeORM gives is its own making. */
export const account = new EntitySchema<Account>({
  name: 'account',
  columns: {
    id: { type: Number, primary: true },
    balance: { type: Number, name: 'balance_now' },
  },
})

const options: Readonly<Record<string, (url: string, size: number) => DataSourceOptions>> = {
  postgres: (url, poolSize) => ({ type: 'postgres', url, poolSize, poolErrorHandler: () => {} }),
  mysql: (url, poolSize) => ({ type: 'mysql', url, poolSize }),
  mariadb: (url, poolSize) => ({ type: 'mariadb', url, poolSize }),
  sqlite: (url) => ({ type: 'better-sqlite3', database: url, timeout: 0 }),
}

export async function openTypeorm(engine: string, url: string, size: number): Promise<DataSource> {
  const of = options[engine]
  if (of === undefined) throw new Error(`TypeORM does not reach ${engine} here`)
  return new DataSource({ ...of(url, size), entities: [account] }).initialize()
}

function stageOn(source: DataSource, { size, pipeline }: StageOptions): OrmStage<EntityManager> {
  const of = (id: number, manager: EntityManager = source.manager) =>
    manager.createQueryBuilder(account, 'a').where({ id })
  return {
    locks: createLocks(source, { pipeline }),
    query: of,
    select: (id, tx) => of(id, tx).getMany(),
    selectSkipping: (id, tx) => of(id, tx).setLock('pessimistic_write').setOnLocked('skip_locked'),
    update: (tx, { id, balance }) => tx.update(account, { id }, { balance }),
    insert: (tx, row) => tx.insert(account, row),
    send: (tx, text) => tx.query(text),
    nest: (tx, work) => tx.transaction(work),
    ownTransaction: (work) => source.transaction(work),
    size,
    close: () => source.destroy(),
  }
}

export const typeorm: Orm = {
  name: 'typeorm',
  engines: Object.keys(options),
  nesting: () => 'asynchronous',
  open: async (engine, url, { size = 4, pipeline } = {}) =>
    stageOn(await openTypeorm(engine, url, size), { size, pipeline }) as OrmStage,
}
