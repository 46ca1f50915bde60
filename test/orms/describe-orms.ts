import { afterEach, beforeEach, describe } from 'vitest'

import { describeEngines, until, type EngineContext } from '../engines/use.ts'
import { orms } from './orms.ts'
import { accounts, type Account, type Orm, type OrmStage, type OrmWait } from './stage.ts'

/** Two applications on one database, inside tests and hooks. */
export interface OrmContext extends EngineContext {
  readonly orm: Orm
  readonly app: OrmStage
  readonly other: OrmStage
}

/**
 * Runs the specs once for each ORM and engine that it reaches, or those of `only`. After each test nothing may be left
 * on the engine.
 */
export function describeOrms(
  specs: (context: OrmContext) => void,
  only?: readonly string[],
  among: readonly Orm[] = orms,
): void {
  for (const orm of among) {
    const engines = orm.engines.filter((name) => only?.includes(name) !== false)
    if (engines.length === 0) continue
    describe(orm.name, () => {
      describeEngines((context) => specs(contextOf(orm, context)), { only: engines })
    })
  }
}

function contextOf(orm: Orm, context: EngineContext): OrmContext {
  let apps: readonly OrmStage[] = []
  beforeEach(async () => {
    const session = await context.engine.open()
    for (const sql of accounts) await session.run({ sql, params: [] })
    await session.close()
    const open = (): Promise<OrmStage> => orm.open(context.name, context.engine.server.url)
    apps = [await open(), await open()]
  })
  afterEach(async () => {
    await Promise.all(apps.map(({ close }) => close()))
    await until(async () => (await context.engine.leftovers()).length === 0, `${context.name} holds nothing`)
  })
  const at = (index: number): OrmStage => {
    const app = apps[index]
    if (app === undefined) throw new Error('the application is there only inside a test or a hook')
    return app
  }
  return {
    orm,
    name: context.name,
    server: context.server,
    get engine() {
      return context.engine
    },
    get kind() {
      return context.kind
    },
    get app() {
      return at(0)
    },
    get other() {
      return at(1)
    },
  }
}

/** Locks the first account, by the ORM's own SELECT. */
export async function lockFirst(
  { locks, query }: OrmStage,
  tx: unknown,
  wait?: OrmWait,
): Promise<Account | undefined> {
  const [row] = await locks.rows(tx, query(1, tx) as never, wait && { wait })
  return row as Account | undefined
}
