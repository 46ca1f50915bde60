import { originOf } from '../../core/derived.ts'
import { LockUsageError } from '../../core/errors.ts'
import type { Row } from '../../core/statement.ts'
import type { Insides } from './instance.ts'
import { shapeOf, textOf, type Select } from './select-text.ts'

/** What is used of a model of Sequelize's. */
export interface ModelLike {
  readonly sequelize?: object
  readonly rawAttributes: object
  /** The way to the database. */
  readonly queryInterface: object
  findAll(options: object): Promise<unknown>
  getTableName(): string | { readonly tableName: string; readonly schema: string }
}

/** Some rows of a model, to be read in a transaction. */
export interface Finding {
  readonly tx: object
  readonly model: ModelLike
  /** As `findAll` takes them. */
  readonly options: FindOptions
}

interface FindOptions {
  readonly transaction?: object | null
  readonly plain?: boolean
  readonly include?: readonly Include[]
}

interface Include {
  readonly separate?: boolean
  readonly include?: readonly Include[]
}

/** A SELECT that Sequelize has written and not sent yet. */
export interface Reading {
  readonly sql: string
  /** The same with the empty text in place of each value: Sequelize writes values into its SELECTs. */
  readonly shape: string
  readonly params: readonly []
  /** Sends it, and gives what the model makes of the answer. */
  readonly run: () => Promise<readonly Row[]>
  /** It is not to be sent. */
  readonly drop: (why: unknown) => void
}

/**
 * Has Sequelize's own `findAll` write a query, with its scopes and hooks, and stops it where it would send it.
 *
 * It is called on an object that is the model in all but the way to the database.
 */
export function readingOf(sequelize: Insides, { tx, model, options }: Finding): Promise<Reading> {
  mustBelongTogether(sequelize, { tx, model, options })
  return new Promise((resolve, reject) => {
    const stop = (_: object, table: unknown, found: FindOptions): Promise<unknown> =>
      new Promise((answer, refuse) => {
        mustLockAll(found, tx)
        // another attempt would be one more wait
        const select: Select = {
          table,
          model,
          options: { ...found, type: 'SELECT', model, retry: { max: 1 } },
        }
        const sql = textOf(sequelize, select)
        const run = async (): Promise<readonly Row[]> => {
          answer(sequelize.query(sql, select.options))
          return listOf(await finding)
        }
        const shape = shapeOf(sequelize, { ...select, options: { ...found, type: 'SELECT', model } })
        resolve({ sql, shape, params: [], run, drop: refuse })
      })
    const queryInterface: unknown = Object.create(model.queryInterface, { select: { value: stop } })
    const stopped = Object.create(model, { queryInterface: { value: queryInterface } }) as ModelLike
    const finding = (async () => stopped.findAll({ ...options, transaction: tx }))()
    finding.then(() => reject(nothingSent()), reject)
  })
}

function mustBelongTogether(sequelize: Insides, { tx, model, options }: Finding): void {
  if (model.sequelize !== (sequelize as object))
    throw new LockUsageError('model', 'belongs to another Sequelize than these locks, or to none')
  const { transaction } = options
  if (transaction != null && originOf(transaction) !== originOf(tx))
    throw new LockUsageError('query', 'names another transaction than tx, so nothing would be locked here')
}

/** Sequelize's hooks and scopes may have changed what was asked for. */
function mustLockAll({ transaction, plain, include }: FindOptions, tx: object): void {
  if (transaction !== tx)
    throw new LockUsageError(
      'query',
      'a hook has taken it to another transaction, so nothing would be locked',
    )
  if (plain === true) throw noList()
  if (isSeparate(include)) {
    throw new LockUsageError(
      'include',
      'separate takes Sequelize more than one statement, and only the rows of the first are locked: read the others after it',
    )
  }
}

function isSeparate(include: readonly Include[] = []): boolean {
  return include.some((one) => one.separate === true || isSeparate(one.include))
}

function listOf(rows: unknown): readonly Row[] {
  if (Array.isArray(rows)) return rows as readonly Row[]
  throw noList()
}

function noList(): LockUsageError {
  return new LockUsageError(
    'query',
    'does not give a list of rows: leave out plain, and use limit: 1 for one row',
  )
}

function nothingSent(): LockUsageError {
  return new LockUsageError('query', 'reads nothing from the database, so no row is locked')
}
