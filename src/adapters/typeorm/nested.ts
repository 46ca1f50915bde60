import { noteDerived } from '../../core/derived.ts'
import { LockUsageError } from '../../core/errors.ts'
import { afterOthers, toItsEnd } from '../orm/nesting.ts'

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
  const nested = async (work: Work): Promise<unknown> => {
    const inner = managerOf(runner)
    runner.manager = inner
    noteDerived(inner, manager)
    withSavepoints(inner, runner, managerOf)
    try {
      return await toItsEnd(manager, inner, async () => work(inner))
    } finally {
      runner.manager = manager
    }
  }
  manager.transaction = async (...args) => {
    const work = args.at(-1)
    if (typeof work !== 'function') throw new LockUsageError('work', 'must be a function')
    if (args.length > 1) throw otherLevel()
    return afterOthers(manager, () => nest(() => nested(work as Work)))
  }
  return manager
}

/** TypeORM leaves it out without a word. */
function otherLevel(): LockUsageError {
  return new LockUsageError('isolation', 'a nested transaction has the isolation level of the outer one')
}
