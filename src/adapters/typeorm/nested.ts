import { noteDerived } from '../../core/derived.ts'
import { LockUsageError } from '../../core/errors.ts'
import { afterOthers, otherTerms, toItsEnd } from '../orm/nesting.ts'
import { followCall, type NestedWork } from '../orm/wire.ts'

type Work = (manager: Manager) => unknown

/** What is used of an `EntityManager`. */
export interface Manager {
  transaction: (...args: unknown[]) => Promise<unknown>
}

/** What is used of a `QueryRunner` to nest. */
export interface ManagedRunner {
  manager: Manager
}

/** Makes an `EntityManager` for a runner. */
export type ManagerOf<Runner> = (runner: Runner) => Manager

/**
 * TypeORM gives the outer object to nested work, and names savepoints by how deep it is at the moment: of two at once,
 * one would go back to the other's. So each nested work has an object of its own, which is the same transaction.
 */
export function withSavepoints<Runner extends ManagedRunner>(
  manager: Manager,
  runner: Runner,
  managerOf: ManagerOf<Runner>,
): Manager {
  const nest = manager.transaction.bind(manager)
  followed(manager)
  const nested = async (self: NestedWork, work: Work): Promise<unknown> => {
    const inner = managerOf(runner)
    runner.manager = inner
    noteDerived(inner, manager)
    withSavepoints(inner, runner, managerOf)
    try {
      return await toItsEnd(self, inner, async () => work(inner))
    } finally {
      runner.manager = manager
    }
  }
  manager.transaction = async (...args) => {
    const work = args.at(-1)
    if (typeof work !== 'function') throw new LockUsageError('work', 'must be a function')
    if (args.length > 1) throw otherTerms()
    return afterOthers(manager, (self) => nest(() => nested(self, work as Work)))
  }
  return manager
}

/** A call of a manager is more than its statements: subscribers and cascades come before, between and after them. */
const calls = [
  'save',
  'remove',
  'softRemove',
  'recover',
  'insert',
  'upsert',
  'update',
  'updateAll',
  'delete',
  'deleteAll',
  'softDelete',
  'restore',
  'increment',
  'decrement',
  'clear',
  'query',
] as const

function followed(manager: Manager): void {
  const methods = manager as unknown as Record<string, unknown>
  for (const name of calls) {
    const method = methods[name]
    if (typeof method !== 'function') continue
    methods[name] = (...args: unknown[]): unknown =>
      followCall(manager, async () => method.apply(manager, args) as unknown)
  }
}
