import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Connected } from '../conformance/subject.ts'
import type { Sessions } from '../core/session.ts'
import { sessionsOf } from '../locks.ts'
import { ConnectError } from './connect-error.ts'
import { endable } from './ending.ts'

/** Locks as an application has them, with the way to close what is beneath them. */
export interface OwnLocks {
  /** What `createLocks` gave. */
  readonly locks: { readonly transaction: (...args: never[]) => Promise<unknown> }
  /** How many connections its pool lends at once, where that is not what was asked for. */
  readonly size?: number
  readonly close: () => unknown
}

/**
 * Opens an application's own locks on the database of an address, on a pool of about `size` connections. Each call is
 * one more application, with a pool of its own.
 */
export type OpenLocks = (url: string, size: number) => OwnLocks | Promise<OwnLocks>

/** The function that a module exports as its default. Rejects with {@link ConnectError}. */
export async function loadOpenLocks(file: string): Promise<OpenLocks> {
  const loaded = await load(file)
  const open = loaded.default
  if (typeof open === 'function') return open as OpenLocks
  throw new ConnectError('driver', `${file} has no function as its default export: ${shape}`)
}

/** What the laws are run on when an application opens its own locks. */
export async function openOwn(open: OpenLocks, url: string, size: number): Promise<Connected> {
  const own: unknown = await open(url, size)
  if (!isOwnLocks(own)) throw new ConnectError('driver', `what it gave is not locks to verify: ${shape}`)
  const sessions = sessionsOf(own.locks)
  if (sessions === undefined) {
    throw new ConnectError(
      'driver',
      `its locks are not made by createLocks of this copy of Holdfast: ${shape}`,
    )
  }
  const connected = endable(sessions as Sessions<object>, async () => own.close())
  return { ...connected, ...(own.size !== undefined && { size: own.size }) }
}

const shape = 'write export default (url, size) => ({ locks: createLocks(pool), close: () => pool.end() })'

function isOwnLocks(own: unknown): own is OwnLocks {
  if (typeof own !== 'object' || own === null || !('locks' in own) || !('close' in own)) return false
  return typeof own.locks === 'object' && own.locks !== null && typeof own.close === 'function'
}

async function load(file: string): Promise<{ readonly default?: unknown }> {
  try {
    return (await import(pathToFileURL(resolve(file)).href)) as { readonly default?: unknown }
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error)
    const isTypeScript = (error as NodeJS.ErrnoException).code === 'ERR_UNKNOWN_FILE_EXTENSION'
    const advice = isTypeScript
      ? `; this Node reads no TypeScript: node --import tsx node_modules/holdfast/dist/cli/main.js verify ${file} ...`
      : ''
    throw new ConnectError('driver', `cannot load ${file}: ${words}${advice}`, { cause: error })
  }
}
