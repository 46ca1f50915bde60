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
  release(error: Error): void
}

/** How long all of it may take: a network may be silent. */
const patienceMs = 3000

/** The message `Terminate`. */
const goodbye = Uint8Array.of(0x58, 0, 0, 0, 4)

/** Takes a client out of its pool, and ends what it has at the server. */
export async function endBackend(client: EndingClient, why: Error): Promise<void> {
  const { stream: socket }: { readonly stream?: BackendSocket } = client.connection ?? {}
  if (socket === undefined) {
    client.release(why)
    return cancel(client)
  }
  const closed = closeSoftly(socket, () => client.release(why))
  if (!(await cancelUntil(closed, [client]))) socket.destroy()
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
