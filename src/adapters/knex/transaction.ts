import { refuseEnd } from '../orm/nesting.ts'
import { viewOf } from '../transaction-view.ts'
import { unknownKnex } from './known.ts'
import { withSavepoints, type Trx } from './nested.ts'

/** What is used of Knex. */
export interface KnexInstance {
  readonly client: unknown
  transaction(scope: never, ...rest: never[]): unknown
}

const endings = new WeakMap<object, (isStored: boolean) => void>()

/** Tells those who ask a transaction whether it has ended, or wait for its end. */
export function endTransaction(tx: object, isStored: boolean): void {
  endings.get(tx)?.(isStored)
}

/**
 * Knex's own transaction object, on a connection that somebody else begins and ends the transaction on.
 *
 * Knex is never told of the end: it would send a COMMIT. What comes later is refused by the connection.
 */
export async function transactionOn(knex: KnexInstance, connection: object): Promise<object> {
  const mute = { count: 0, isOn: true }
  const own = knex as unknown as { transaction(scope: undefined, config: object): Promise<Trx> }
  const trx = await own.transaction(undefined, { connection: muted(connection, mute) })
  mute.isOn = false
  if (mute.count !== 1 || trx.isTransaction !== true || typeof trx.context?.transaction !== 'function')
    throw unknownKnex('its transactions begin in another way')
  let isOver = false
  trx.isCompleted = () => isOver
  trx.executionPromise = new Promise<void>((resolve, reject) => {
    endings.set(trx, (isStored) => {
      isOver = true
      if (isStored) resolve()
      else reject(new Error('the transaction was not committed'))
    })
  })
  // most never ask for it
  trx.executionPromise.catch(() => {})
  trx.commit = () => refuseEnd('commit')
  trx.rollback = () => refuseEnd('rollback')
  return withSavepoints(trx)
}

/** Answers the BEGIN of Knex itself, which has no other way to make a transaction's object. */
function muted<Connection extends object>(
  connection: Connection,
  mute: { count: number; readonly isOn: boolean },
): Connection {
  return viewOf(connection, (name) => {
    if (!mute.isOn || (name !== 'query' && name !== 'prepare')) return undefined
    return (...args: unknown[]) => {
      mute.count += 1
      if (name === 'prepare') return { reader: false, run: () => ({ changes: 0, lastInsertRowid: 0 }) }
      const callback = args.at(-1) as (error: null, answer: object) => void
      return callback(null, Object.assign([], { rows: [] }))
    }
  })
}
