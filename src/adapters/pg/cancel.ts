import { connect } from 'node:net'

/** What `pg`'s clients know of the server's side of their connection. */
export interface CancelTarget {
  readonly host?: string
  readonly port?: number
  readonly processID?: number | null
  readonly secretKey?: number | null
}

/** The number that the protocol has for this kind of message. */
const CANCEL_REQUEST = 80_877_102

/**
 * Asks the server to end what runs on a connection, on another connection that needs no place in a pool. Nobody
 * tells whether anything was ended. Behind PgBouncer nothing was, for a client that had closed its connection.
 *
 * https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-CANCELING-REQUESTS
 */
export function cancel({ host, port, processID, secretKey }: CancelTarget): Promise<void> {
  if (host === undefined || port === undefined || processID == null || secretKey == null)
    return Promise.resolve()
  const message = Buffer.alloc(16)
  // without a sign or with one: PgBouncer makes up numbers of its own, and drivers read them either way
  for (const [index, part] of [message.length, CANCEL_REQUEST, processID, secretKey].entries()) {
    message.writeInt32BE(part | 0, index * 4)
  }
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
  return new Promise((resolve) => {
    socket.setTimeout(3_000, () => socket.destroy())
    socket.on('error', () => {}) // then the server ends it when it finds the connection closed
    socket.on('close', () => resolve())
    // not closed by us: PgBouncer 1.18 ends as a whole when that comes before it has passed the message on
    socket.write(message)
  })
}
