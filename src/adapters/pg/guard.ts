/** What is used of a client of `pg`, which tells of errors. */
interface Emitter {
  on(event: string, listener: () => void): unknown
  off(event: string, listener: () => void): unknown
}

const guarded = new WeakSet<object>()

/** What is used of a pool to hear of its idle connections. */
export interface IdleErrors {
  on?(event: 'error', listener: (error: Error) => void): unknown
  listenerCount?(event: 'error'): number
}

interface NewConnections {
  on?(event: 'connect', listener: (client: object) => void): unknown
}

function guardEach(pool: object): void {
  const own = pool as NewConnections
  own.on?.('connect', guardNew)
}

/** A pool tells of an idle connection that breaks, and ends the process when nobody listens: then it is a warning. */
export function guardIdle(pool: IdleErrors): void {
  if (guarded.has(pool)) return
  guarded.add(pool)
  pool.on?.('error', (error) => {
    if (pool.listenerCount?.('error') === 1)
      process.emitWarning(`an idle connection of the pool has ended: ${error.message}`, 'HoldfastWarning')
  })
  guardEach(pool)
}

function ignore(): void {}

/**
 * A server may end a connection in the message that ends its log-in. By then the pool listens no more, and whoever asked
 * for the connection hears of it only when this round is over.
 */
function guardNew(client: object): void {
  const emitter = client as Partial<Emitter>
  emitter.on?.('error', ignore)
  setImmediate(() => emitter.off?.('error', ignore))
}
