import type { Script } from './scripts.ts'

/** What is used of a client of `ioredis`, or of its cluster. */
export interface IoredisClient {
  evalsha(sha: string, keyCount: number, ...keysAndArgs: string[]): Promise<unknown>
  eval(script: string, keyCount: number, ...keysAndArgs: string[]): Promise<unknown>
  duplicate(): IoredisListener
}

/** What is used of a connection of `ioredis` to hear of releases. */
export interface IoredisListener {
  subscribe(channel: string): Promise<unknown>
  on(event: 'message', tell: (channel: string, message: string) => void): unknown
  on(event: 'close' | 'error', tell: () => void): unknown
  disconnect(): void
}

/** What is used of a client of `redis`, or of its cluster: from 5 on. */
export interface NodeRedisClient {
  evalSha(sha: string, on: NodeRedisScriptOptions): Promise<unknown>
  eval(script: string, on: NodeRedisScriptOptions): Promise<unknown>
  duplicate(): NodeRedisListener
}

/** What `redis` is told beside a script. */
export interface NodeRedisScriptOptions {
  /** The keys that it reads and writes. */
  readonly keys: string[]
  /** Its other values. */
  readonly arguments: string[]
}

/** What is used of a connection of `redis` to hear of releases. */
export interface NodeRedisListener {
  connect(): Promise<unknown>
  subscribe(channel: string, tell: (message: string) => void): Promise<unknown>
  on(event: string, tell: () => void): unknown
  destroy(): void
}

/** A client of `ioredis` or of `redis`, connected to a server or to a cluster. */
export type RedisClient = IoredisClient | NodeRedisClient

/** A script that is run, by its text or by the name that the server has for it. */
export interface Call {
  readonly by: 'sha' | 'text'
  readonly script: Script
  readonly keys: readonly string[]
  readonly args: readonly string[]
}

export function isIoredis(client: RedisClient): client is IoredisClient {
  return 'evalsha' in client
}

/** Sends one command. */
export function send(client: RedisClient, { by, script, keys, args }: Call): Promise<unknown> {
  if (isIoredis(client)) {
    const rest = [...keys, ...args]
    return by === 'sha'
      ? client.evalsha(script.sha, keys.length, ...rest)
      : client.eval(script.text, keys.length, ...rest)
  }
  const on = { keys: [...keys], arguments: [...args] }
  return by === 'sha' ? client.evalSha(script.sha, on) : client.eval(script.text, on)
}
