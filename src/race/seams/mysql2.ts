import { libraryOf } from '../../adapters/libraries.ts'
import { sessions, type Mysql2Pool } from '../../adapters/mysql2/sessions.ts'
import type { Gate } from '../gate.ts'
import type { Lent } from '../loan.ts'
import { observerOf } from '../observer.ts'
import type { Seam } from '../seam.ts'
import { watchCommands, type Command } from './mysql2-commands.ts'
import { copyOf, replaced } from './replaced.ts'

type Callback = (error: unknown, ...rest: unknown[]) => void

/** The connection that answers by callback, beneath the one of promises. */
export interface Connection {
  readonly threadId?: number
  addCommand(command: Command): Command
  on(event: 'error', listener: () => void): unknown
  destroy(): void
}

interface Pool {
  readonly config: { connectionLimit: number; connectionConfig: object; waitForConnections?: boolean }
  readonly _allConnections?: { readonly length: number }
  readonly _freeConnections?: { readonly length: number }
  getConnection(callback: Callback): void
  on(event: 'release', listener: (connection: Connection) => void): unknown
  off(event: 'release', listener: (connection: Connection) => void): unknown
  promise(): Mysql2Pool & { end(): Promise<void> }
}

/** A pool of `mysql2`, with promises or with callbacks. */
export const mysql2: Seam = {
  driver: 'mysql2',
  is: (db) => libraryOf(db)?.entry === 'mysql2',
  install: (db, gate) => install(coreOf(db), gate),
  observe: (db) => {
    const pool = another(coreOf(db))
    return observerOf(sessions(pool), ['mysql', 'mariadb'], () => pool.end())
  },
  end: async (connection, kill) => {
    const core = connection as Connection
    core.on('error', () => {}) // it tells of its end
    await kill()
    core.destroy()
  },
}

function coreOf(db: object): Pool {
  return 'pool' in db ? (db.pool as Pool) : (db as Pool)
}

/** A pool of one connection to the same place. */
function another(pool: Pool): Mysql2Pool & { end(): Promise<void> } {
  const { connectionConfig } = pool.config
  const config = Object.assign(copyOf(pool.config), {
    connectionLimit: 1,
    waitForConnections: true,
    connectionConfig: copyOf(connectionConfig),
  })
  return (Reflect.construct(pool.constructor, [{ config }]) as Pool).promise()
}

function install(pool: Pool, gate: Gate): () => void {
  const released = (connection: Connection): void => gate.giveBack(connection)
  const { watch, putBack: putCommandsBack } = watchCommands(gate)
  pool.on('release', released)
  const putBack = [
    replaced(pool, 'getConnection', (original) => lent(pool, original, { gate, watch })),
    () => pool.off('release', released),
    putCommandsBack,
  ]
  return () => putBack.forEach((put) => put())
}

/** What is known of a connection. */
export function lentOf({ threadId }: Connection): Lent {
  return { id: threadId === undefined ? undefined : String(threadId) }
}

interface Watching {
  readonly gate: Gate
  readonly watch: (connection: Connection) => void
}

function lent(pool: Pool, original: Pool['getConnection'], { gate, watch }: Watching): Pool['getConnection'] {
  return (callback) => {
    const actor = gate.current
    if (actor === undefined) return original.call(pool, callback)
    if (actor.isOver) return callback(gate.refusal)
    const came = gate.queue(actor, () => isFull(pool))
    return original.call(pool, (error, ...rest) => {
      const connection = rest[0] as Connection | undefined
      if (connection !== undefined) {
        watch(connection)
        gate.lend(connection, actor, lentOf(connection))
      }
      came()
      gate.within(actor, () => callback(error, ...rest))
    })
  }
}

function isFull({
  config: { connectionLimit },
  _allConnections: all,
  _freeConnections: free,
}: Pool): boolean {
  return connectionLimit > 0 && all !== undefined && all.length >= connectionLimit && free?.length === 0
}
