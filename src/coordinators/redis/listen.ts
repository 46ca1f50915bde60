import type { Sessions } from '../../core/session.ts'
import { beginListening } from '../begin-listening.ts'
import { isIoredis, type IoredisListener, type NodeRedisListener, type RedisClient } from './client.ts'

type Listen = NonNullable<Sessions['listen']>

/** A connection that hears one topic until it breaks or is ended. */
interface Listener {
  readonly begin: (topic: string) => Promise<unknown>
  readonly end: () => void
}

interface Ears {
  readonly hear: (message: string) => void
  readonly lose: () => void
}

/**
 * Hears PUBLISH on a connection of its own: one that is subscribed can do nothing else. When it breaks, the listener is
 * told the empty text, and hears no more, although the client would connect again: what was said meanwhile is lost.
 */
export function listenOn(client: RedisClient): Listen {
  return async (topic, wake) => {
    let isOver = false
    const end = (): void => {
      if (isOver) return
      isOver = true
      listener.end()
    }
    const ears: Ears = {
      hear: (message) => void (isOver || wake(message)),
      lose: () => {
        if (isOver) return
        end()
        wake('')
      },
    }
    const listener = isIoredis(client)
      ? byIoredis(client.duplicate(), ears)
      : byRedis(client.duplicate(), ears)
    await beginListening(listener.begin(topic), end)
    return async () => end()
  }
}

function byIoredis(connection: IoredisListener, { hear, lose }: Ears): Listener {
  connection.on('message', (_, message) => hear(message))
  connection.on('close', lose)
  connection.on('error', lose)
  return {
    begin: (topic) => connection.subscribe(topic),
    end: () => connection.disconnect(),
  }
}

function byRedis(connection: NodeRedisListener, { hear, lose }: Ears): Listener {
  for (const event of ['error', 'reconnecting', 'end']) connection.on(event, lose)
  return {
    begin: async (topic) => {
      await connection.connect()
      await connection.subscribe(topic, hear)
    },
    end: () => connection.destroy(),
  }
}
