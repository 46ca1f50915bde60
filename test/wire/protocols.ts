import { frames } from './frames.ts'

/** Listens to one connection. Calls `onTrip` once for each round trip, with what the client asked. */
export type Protocol = (onTrip: (asked: string) => void) => Ears

export interface Ears {
  readonly fromClient: (chunk: Buffer) => void
  readonly fromServer: (chunk: Buffer) => void
}

/**
 * A round trip ends with ReadyForQuery or an error before it, however many statements or messages the client has sent.
 *
 * The first one ends the start-up and is none of ours.
 *
 * @see https://www.postgresql.org/docs/current/protocol-message-formats.html
 */
export const postgresProtocol: Protocol = (onTrip) => {
  let asked: string[] = []
  let isStarted = false
  const hear = (message: Buffer): void => {
    if (message[0] === code('Q')) asked.push(textAt(message, 5))
    if (message[0] === code('P')) asked.push(textAt(message, message.indexOf(0, 5) + 1)) // behind the statement's name
  }
  // An error is sent at once, and what ends the round trip behind it: whoever has heard of the error finds it counted.
  let hasFailed = false
  const answered = (message: Buffer): void => {
    const isError = message[0] === code('E')
    if (!isError && message[0] !== code('Z')) return
    if (isStarted && !hasFailed) {
      onTrip(asked.join('; '))
      asked = []
    }
    hasFailed = isError
    if (!isError) isStarted = true
  }
  // the very first message has a length and no type
  let isFirst = true
  const sizeFromClient = (bytes: Buffer): number | undefined => {
    if (!isFirst) return typedSize(bytes)
    return bytes.length < 4 ? undefined : bytes.readInt32BE(0)
  }
  return {
    fromClient: frames(sizeFromClient, (message) => {
      if (!isFirst) hear(message)
      isFirst = false
    }),
    fromServer: frames(typedSize, answered),
  }
}

/** Commands that the server leaves without an answer: COM_QUIT, COM_STMT_SEND_LONG_DATA, COM_STMT_CLOSE. */
const unanswered = [0x01, 0x18, 0x19]
const COM_QUERY = 0x03

/**
 * A round trip begins with a command: the client's packet number 0. Packets of the log-in have higher numbers.
 *
 * @see https://mariadb.com/kb/en/0-packet/
 */
export const mysqlProtocol: Protocol = (onTrip) => ({
  fromClient: frames(packetSize, (packet) => {
    const command = packet[4] ?? 0
    if (packet[3] !== 0 || unanswered.includes(command)) return
    onTrip(command === COM_QUERY ? queryText(packet.subarray(5)) : `command ${command}`)
  }),
  fromServer: () => {},
})

/** To a server that knows query attributes, their number goes first: none of them, in one set. */
function queryText(body: Buffer): string {
  const hasAttributes = body[0] === 0 && body[1] === 1
  return body.toString('utf8', hasAttributes ? 2 : 0)
}

function typedSize(bytes: Buffer): number | undefined {
  return bytes.length < 5 ? undefined : 1 + bytes.readInt32BE(1)
}

function packetSize(bytes: Buffer): number | undefined {
  return bytes.length < 4 ? undefined : 4 + bytes.readUIntLE(0, 3)
}

function code(letter: string): number {
  return letter.charCodeAt(0)
}

function textAt(message: Buffer, start: number): string {
  return message.toString('utf8', start, message.indexOf(0, start))
}
