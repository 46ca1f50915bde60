import { unknownSequelize } from './known.ts'

/** What is used of a `Sequelize`. */
export interface SequelizeInstance {
  getDialect(): string
  transaction(...args: never[]): Promise<unknown>
}

/** What is used of its insides. */
export interface Insides {
  readonly dialect: Dialect
  readonly connectionManager: ConnectionManager
  readonly options: {
    readonly minifyAliases?: boolean
    readonly native?: boolean
    /** Of every transaction that says nothing else. */
    readonly isolationLevel?: unknown
    readonly dialectOptions?: { readonly prependSearchPath?: boolean }
  }
  query(sql: string, options: object): Promise<unknown>
  transaction: (options?: unknown, work?: unknown) => Promise<unknown>
  addHook: (name: 'beforeQuery', hook: (options: object) => void) => unknown
}

interface Dialect {
  readonly queryGenerator: QueryGenerator
  /** Whether a backslash in a literal keeps the next character from ending it. */
  canBackslashEscape(): boolean
}

/** Writes Sequelize's statements. */
export interface QueryGenerator {
  escape(value: unknown, ...rest: unknown[]): unknown
  selectQuery(table: unknown, options: object, model: object): string
}

export interface ConnectionManager {
  readonly pool: PoolLike
  getConnection(options?: object): Promise<object>
  releaseConnection(connection: object): unknown
  destroyConnection(connection: object): Promise<unknown>
}

/** What is used of `sequelize-pool`. With replication there are two, and those who write have the second. */
export interface PoolLike {
  readonly maxSize?: number
  readonly size?: number
  readonly available?: number
  readonly write?: PoolLike
}

/** What is used of a `Transaction`. */
export interface SequelizeTransaction {
  readonly id: string
  /** Of its savepoint. */
  readonly name: string
  connection: object & { uuid?: string | undefined }
  savepoints: object[]
  commit: () => Promise<void>
  rollback: () => Promise<void>
  prepareEnvironment: () => Promise<unknown>
  cleanup: () => unknown
  forceCleanup: () => unknown
  afterCommit: (hook: AfterCommit) => void
}

export type AfterCommit = (transaction: SequelizeTransaction) => unknown

interface TransactionClass {
  new (sequelize: SequelizeInstance, options: object): SequelizeTransaction
}

/** Throws where Sequelize is not as it is known. */
export function insidesOf(sequelize: SequelizeInstance): Insides {
  const own = sequelize as unknown as Partial<Insides>
  const { dialect, connectionManager } = own
  const parts: readonly (readonly [string, object | undefined, readonly string[]])[] = [
    ['itself', own, ['transaction', 'query', 'addHook']],
    ['connectionManager', connectionManager, ['getConnection', 'releaseConnection', 'destroyConnection']],
    ['dialect', dialect, ['canBackslashEscape']],
    ['queryGenerator', dialect?.queryGenerator, ['escape', 'selectQuery']],
  ]
  for (const [name, part, methods] of parts)
    for (const method of methods)
      if (typeof (part as Readonly<Record<string, unknown>> | undefined)?.[method] !== 'function')
        throw unknownSequelize(`it has no ${method} (${name})`)
  return own as Insides
}

/** Sequelize's own class. Throws where its objects are not as they are known. */
export function transactionClassOf(sequelize: SequelizeInstance): TransactionClass {
  const { Transaction } = sequelize.constructor as { readonly Transaction?: TransactionClass }
  if (typeof Transaction !== 'function') throw unknownSequelize('it has no Transaction')
  const sample = new Transaction(sequelize, {})
  if (typeof sample.id !== 'string' || !Array.isArray(sample.savepoints) || !('_afterCommitHooks' in sample))
    throw unknownSequelize('its transactions are made in another way')
  return Transaction
}
