import { EntitySchema, LockMode, MikroORM, type SqlEntityManager } from '@mikro-orm/postgresql'

import { createLocks } from '../../src/entries/mikro-orm.ts'
import type { Account, Orm, OrmStage, StageOptions } from './stage.ts'

/** The column is not called what the property is: what MikroORM gives is its own making. */
const account = new EntitySchema<Account>({
  name: 'account',
  properties: {
    id: { type: 'integer', primary: true, autoincrement: false },
    balance: { type: 'integer', fieldName: 'balance_now' },
  },
})

export async function openMikroOrm(
  url: string,
  max: number,
  entities: readonly EntitySchema[] = [account],
): Promise<MikroORM> {
  return MikroORM.init({
    clientUrl: url,
    entities: [...entities],
    pool: { min: 0, max },
    allowGlobalContext: true,
    logger: () => {},
  })
}

function stageOn(orm: MikroORM, { size, pipeline }: StageOptions): OrmStage<SqlEntityManager> {
  const of = (id: number, em: SqlEntityManager = orm.em.fork()) =>
    em.createQueryBuilder(account).where({ id })
  return {
    locks: createLocks(orm, { pipeline }) as unknown as OrmStage<SqlEntityManager>['locks'],
    query: of,
    select: (id, tx) => of(id, tx).getResultList(),
    selectSkipping: (id, tx) => of(id, tx).setLockMode(LockMode.PESSIMISTIC_PARTIAL_WRITE),
    update: (tx, { id, balance }) => tx.nativeUpdate(account, { id }, { balance }),
    insert: (tx, row) => tx.insert(account, row),
    send: (tx, text) => tx.execute(text),
    nest: (tx, work) => tx.transactional((inner) => work(inner)),
    ownTransaction: (work) => orm.em.fork().transactional((tx) => work(tx as SqlEntityManager)),
    size,
    close: () => orm.close(),
  }
}

export const mikroOrm: Orm = {
  name: '@mikro-orm/postgresql',
  engines: ['postgres'],
  nesting: () => 'asynchronous',
  open: async (_, url, { size = 4, pipeline } = {}) =>
    stageOn(await openMikroOrm(url, size), { size, pipeline }) as OrmStage,
}
