import { Redis as Ioredis } from 'ioredis'
import Ioredis5 from 'ioredis-5.0'
import { Redis as Ioredis6 } from 'ioredis-6'
import { createClient } from 'redis'
import { createClient as createClient5 } from 'redis-5.0'
import { createClient as createClient6 } from 'redis-6'

import type { RedisClient } from '../../src/entries/redis.ts'

/** A client library in one of its versions. */
export interface RedisWay {
  readonly title: string
  readonly open: (url: string) => Promise<OpenedRedis>
}

export interface OpenedRedis {
  readonly client: RedisClient
  /** Sends any command. */
  readonly send: (...words: [string, ...string[]]) => Promise<unknown>
  readonly close: () => Promise<void>
}

type AnyIoredis = RedisClient & {
  call(command: string, ...args: string[]): Promise<unknown>
  on(event: 'error', tell: () => void): unknown
  disconnect(): void
}

async function byIoredis(client: AnyIoredis): Promise<OpenedRedis> {
  client.on('error', () => {}) // told to whoever asks for something
  return {
    client,
    send: (command, ...args) => client.call(command, ...args),
    close: async () => client.disconnect(),
  }
}

type AnyNodeRedis = RedisClient & {
  connect(): Promise<unknown>
  sendCommand(words: string[]): Promise<unknown>
  on(event: 'error', tell: () => void): unknown
  destroy(): void
}

async function byRedis(client: AnyNodeRedis): Promise<OpenedRedis> {
  client.on('error', () => {})
  await client.connect()
  return {
    client,
    send: (...words) => client.sendCommand(words),
    close: async () => client.destroy(),
  }
}

export const ioredis: RedisWay = { title: 'ioredis 5.11', open: (url) => byIoredis(new Ioredis(url)) }
export const nodeRedis: RedisWay = { title: 'redis 5.12', open: (url) => byRedis(createClient({ url })) }

/** The lowest and the highest versions that are said to work. */
export const redisWays: readonly RedisWay[] = [
  ioredis,
  { title: 'ioredis 5.0', open: (url) => byIoredis(new Ioredis5.default(url)) },
  { title: 'ioredis 6.0', open: (url) => byIoredis(new Ioredis6(url)) },
  nodeRedis,
  { title: 'redis 5.0', open: (url) => byRedis(createClient5({ url })) },
  { title: 'redis 6.3', open: (url) => byRedis(createClient6({ url })) },
]

/**
 * Has a server lose the leases of these keys, of which one has this fence. Nothing but its clock makes the next fence the
 * higher one then, and a machine may take both in one millisecond.
 */
export async function lose(send: OpenedRedis['send'], fence: number, keys: readonly string[]): Promise<void> {
  await send('DEL', ...keys)
  let now = fence
  while (now <= fence) {
    const [seconds, micros] = (await send('TIME')) as [string, string]
    now = Number(seconds) * 1000 + Math.floor(Number(micros) / 1000)
  }
}
