import { asError } from '../../core/in-words.ts'
import type { Sessions } from '../../core/session.ts'
import { onLoss, type LossEvents } from '../connection-loss.ts'
import { inTurn } from '../turn.ts'

/** Where `pg`'s clients tell of what NOTIFY sends. */
export interface NotificationEvents {
  on(event: 'notification', listener: (message: PgNotification) => void): unknown
  off(event: 'notification', listener: (message: PgNotification) => void): unknown
}

export interface PgNotification {
  readonly channel: string
  readonly payload?: string | undefined
}

/** What is used of a client to listen on it. */
export interface ListeningClient {
  readonly processID?: number | null
  readonly on: LossEvents['on'] & NotificationEvents['on']
  readonly off: LossEvents['off'] & NotificationEvents['off']
  query(text: string): Promise<unknown>
  release(error?: Error): void
}

/** A pool, and what `pg`'s own tells of its connections. */
export interface ListeningPool {
  connect(): Promise<ListeningClient>
  readonly options?: { readonly max?: number }
  readonly totalCount?: number
  readonly idleCount?: number
}

type Listener = { readonly wake: (message: string) => void }

/** The one connection on which all topics of a pool are heard. */
interface Line {
  readonly isOver: () => boolean
  readonly join: (topic: string, listener: Listener) => Promise<void>
  /** Gives the connection back when nobody is left. */
  readonly leave: (topic: string, listener: Listener) => Promise<void>
}

/**
 * Hears NOTIFY on one connection of the pool, which is taken for as long as anybody listens.
 *
 * Rejects where the pool has none to spare, and where a pooler is between: a LISTEN would stay behind on a server that
 * serves others. When the connection breaks, every listener is woken once with an empty message, and hears no more.
 */
export function listenOn(pool: ListeningPool): NonNullable<Sessions['listen']> {
  const line: { current?: Line } = {}
  return (topic, wake) =>
    inTurn(line, async () => {
      if (line.current?.isOver() !== false) line.current = await openLine(pool)
      const listener = { wake }
      const joined = line.current
      await joined.join(topic, listener)
      return () => inTurn(line, () => joined.leave(topic, listener))
    })
}

async function openLine(pool: ListeningPool): Promise<Line> {
  checkSpare(pool)
  const topics = new Map<string, Set<Listener>>()
  const loan = borrow(await pool.connect(), {
    hear: ({ channel, payload = '' }) => topics.get(channel)?.forEach(({ wake }) => wake(payload)),
    lose: () => topics.forEach((listeners) => listeners.forEach(({ wake }) => wake(''))),
  })
  await loan.checkDirect()
  return {
    isOver: loan.isOver,
    join: async (topic, listener) => {
      const listeners = topics.get(topic) ?? new Set()
      if (listeners.size === 0) await loan.send(`LISTEN ${quoted(topic)}`)
      topics.set(topic, listeners.add(listener))
    },
    leave: async (topic, listener) => {
      const listeners = topics.get(topic)
      if (listeners?.delete(listener) !== true || listeners.size > 0 || loan.isOver()) return
      topics.delete(topic)
      await loan.send(`UNLISTEN ${quoted(topic)}`)
      if (topics.size === 0) loan.end()
    },
  }
}

/** A client of the pool until its end, which comes once: it goes back, or is thrown away when it is broken. */
interface Loan {
  readonly isOver: () => boolean
  readonly send: (text: string) => Promise<unknown>
  readonly checkDirect: () => Promise<void>
  readonly end: (why?: Error) => void
}

interface Ears {
  readonly hear: (message: PgNotification) => void
  readonly lose: () => void
}

function borrow(client: ListeningClient, { hear, lose }: Ears): Loan {
  let isOver = false
  const end = (why?: Error): void => {
    if (isOver) return
    isOver = true
    stopWatching()
    client.off('notification', hear)
    if (why !== undefined) client.on('error', ignore) // it may have more to say before it is gone
    client.release(why)
    if (why !== undefined) lose()
  }
  const stopWatching = onLoss(client, end)
  const send = async (text: string): Promise<unknown> => {
    try {
      return await client.query(text)
    } catch (error) {
      end(asError(error))
      throw error
    }
  }
  const checkDirect = async (): Promise<void> => {
    if (isBackend(client.processID, await send('SELECT pg_backend_pid() AS pid'))) return
    end()
    throw new Error('there is a pooler in between: notifications would not arrive')
  }
  client.on('notification', hear)
  return { isOver: () => isOver, send, checkDirect, end }
}

/** Whoever takes the last connection of a pool may keep the holder of a lock from ever releasing it. */
function checkSpare({ options, totalCount, idleCount }: ListeningPool): void {
  const max = options?.max
  if (max === undefined || totalCount === undefined || idleCount === undefined) return
  if (max - totalCount + idleCount < 2) throw new Error('the pool has no connection to spare for listening')
}

function isBackend(processID: number | null | undefined, answer: unknown): boolean {
  const { rows } = answer as { readonly rows: readonly { readonly pid: unknown }[] }
  return processID != null && Number(rows[0]?.pid) === processID
}

function quoted(topic: string): string {
  return `"${topic.replaceAll('"', '""')}"`
}

function ignore(): void {}
