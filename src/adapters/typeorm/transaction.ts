import { unknownTypeorm } from './known.ts'
import { otherTerms, refuseEnd } from '../orm/nesting.ts'
import { withSavepoints, type ManagedRunner, type Manager } from './nested.ts'

/** What is used of TypeORM's `DataSource`. */
export interface TypeormSource {
  readonly options: { readonly type: string }
  readonly isInitialized: boolean
  readonly driver: unknown
  readonly manager: object
}

/** What is used of a `QueryRunner`. */
interface Runner extends ManagedRunner {
  isTransactionActive: boolean
  transactionDepth: number
  /** How many statements the one of SQLite keeps. */
  cacheSize?: number
  connect: () => Promise<object>
  release: () => Promise<void>
  startTransaction: (level?: string) => Promise<void>
  commitTransaction: () => Promise<void>
  rollbackTransaction: () => Promise<void>
}

interface RunnerClass {
  new (driver: object, mode: 'master'): Runner
}

/** Gives TypeORM's own transaction object, on a connection that somebody else begins and ends the transaction on. */
export type Dresser = (connection: object) => object

/** Throws where TypeORM is not as it is known. */
export function dresserOf(source: TypeormSource): Dresser {
  const driver = source.driver as { createQueryRunner?(mode: 'master'): Runner }
  const { createEntityManager } = source as { createEntityManager?: (runner: Runner) => Manager }
  // there is one for all on SQLite, so each transaction's is made of its class
  const sample = driver.createQueryRunner?.('master')
  if (sample?.transactionDepth === undefined || typeof createEntityManager !== 'function')
    throw unknownTypeorm('it makes its transactions in another way')
  const Class = sample.constructor as RunnerClass
  const managerOf = (runner: Runner): Manager => createEntityManager.call(source, runner)
  return (connection) => {
    const runner = new Class(driver, 'master')
    keepInside(runner, connection)
    runner.manager = managerOf(runner)
    return withSavepoints(runner.manager, runner, managerOf)
  }
}

function keepInside(runner: Runner, connection: object): void {
  const { startTransaction, commitTransaction, rollbackTransaction } = runner
  runner.connect = async () => connection
  // a statement that it keeps would not be sent, but run again as it was
  runner.cacheSize = 0
  runner.isTransactionActive = true
  runner.transactionDepth = 1
  const nestedOnly = (name: string, end: () => Promise<void>): (() => Promise<void>) => {
    return async () => (runner.transactionDepth > 1 ? end.call(runner) : refuseEnd(name))
  }
  runner.startTransaction = async (level) => {
    if (level !== undefined) throw otherTerms()
    return startTransaction.call(runner)
  }
  runner.commitTransaction = nestedOnly('commitTransaction', commitTransaction)
  runner.rollbackTransaction = nestedOnly('rollbackTransaction', rollbackTransaction)
  runner.release = async () => refuseEnd('release')
}
