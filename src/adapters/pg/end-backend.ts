import { setTimeout as pause } from 'node:timers/promises'

import { cancel, type CancelTarget } from './cancel.ts'

/** What is used of the socket of a connection. */
interface BackendSocket {
  readonly destroyed: boolean
  destroy(): unknown
  end(bytes: Uint8Array): unknown
  once(event: 'close', listener: () => void): unknown
  /** Absent in those that are no sockets of Node. */
  resume?(): unknown
}

/** What is used of a client. */
interface EndingClient extends CancelTarget {
  readonly connection?: object
  /** False while the server has not answered all that was sent. */
  readonly readyForQuery?: boolean
  once?(event: 'drain', listener: () => void): unknown
  release(error: Error): void
}

/** How long all of it may take: a network may be silent. */
const patienceMs = 3000

/** How long the answer to the first cancels is waited for. */
const answerMs = 1000

/** The message `Terminate`. */
const goodbye = Uint8Array.of(0x58, 0, 0, 0, 4)

/** Takes a client out of its pool, and ends what it has at the server. */
export async function endBackend(client: EndingClient, why: Error): Promise<void> {
  const { stream: socket }: { readonly stream?: BackendSocket } = client.connection ?? {}
  if (socket === undefined) {
    client.release(why)
    return cancel(client)
  }
  const idle = client.readyForQuery === false ? drained(client, socket) : undefined
  const close = (): Promise<void> => closeSoftly(socket, () => client.release(why))
  if (!(await cancelUntil(onceIdle(idle, close), [client]))) socket.destroy()
}

/**
 * Closes a connection when it is idle, or at once where `idle` is not given. A pooler forgets a client that has closed,
 * and can cancel nothing for it from then on. PgBouncer also closes its connection to the server then, which the server
 * does not notice while the statement waits for a lock.
 */
export async function onceIdle(idle: Promise<void> | undefined, close: () => Promise<void>): Promise<void> {
  if (idle !== undefined) {
    const answered = new AbortController()
    const tooLong = pause(answerMs, undefined, { ref: false, signal: answered.signal }).catch(() => {})
    await Promise.race([idle, tooLong])
    answered.abort()
  }
  return close()
}

function drained(client: EndingClient, socket: BackendSocket): Promise<void> | undefined {
  if (client.once === undefined || socket.destroyed) return undefined
  return new Promise((resolve) => {
    client.once?.('drain', resolve)
    socket.once('close', resolve)
  })
}

/**
 * Runs `close`, in which the driver destroys the socket of a connection. It is ended instead, so that one hears when the
 * server has closed it.
 */
function closeSoftly(socket: BackendSocket, close: () => void): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    if (socket.destroyed) resolve()
    else socket.once('close', resolve)
  })
  const destroy = socket.destroy.bind(socket)
  // only the driver's call: Node itself destroys it when both sides have ended, which may be at once
  const restore = (): void => void (socket.destroy = destroy)
  socket.destroy = () => {
    restore()
    return socket.end(goodbye)
  }
  try {
    close()
  } finally {
    restore()
  }
  // one that was paused, by a stream that nobody reads, would not tell
  socket.resume?.()
  return closed
}

/**
 * Cancels what runs on a connection until the server has closed it. While a statement waits for a lock, the server does
 * not notice that its client has gone, and a cancel that comes between two statements does nothing.
 *
 * The server closes a connection after it has given back all that was held on it. A cancel alone is answered before the
 * statement has ended, and until then the server may still give it the lock.
 *
 * Gives false where the server did not close it in time.
 */
export async function cancelUntil(closed: Promise<void>, targets: readonly CancelTarget[]): Promise<boolean> {
  const over = new AbortController()
  const { signal } = over
  const tooLong = pause(patienceMs, false, { ref: false, signal }).catch(() => false)
  const end = Promise.race([closed.then(() => true), tooLong])
  let isOver = false
  void end.then(() => (isOver = true))
  for (let pauseMs = 10; !isOver; pauseMs *= 2) {
    await Promise.race([Promise.all(targets.map(cancel)), end])
    await Promise.race([pause(pauseMs, undefined, { ref: false, signal }).catch(() => {}), end])
  }
  over.abort()
  return end
}
