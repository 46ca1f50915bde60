import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Connected } from '../conformance/subject.ts'
import type { Session, Sessions } from '../core/session.ts'
import { sessionsOf } from '../locks.ts'
import { ConnectError } from './connect-error.ts'
import { endable } from './ending.ts'
import { limits } from './limits.ts'
import { atMost, within } from './within.ts'

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

/** Where an application's own locks have to lead. */
export interface OwnPlace {
  readonly url: string
  /** Tells whether a session has come there, and not into another database of the application. */
  readonly isThere: (session: Session) => Promise<boolean>
}

/**
 * What the laws are run on when an application opens its own locks. Rejects when they lead elsewhere, or when the pool
 * does not lend what it was asked for: a law would wait for it in vain.
 */
export async function openOwn(open: OpenLocks, place: OwnPlace, size: number): Promise<Connected> {
  const connected = await opened(open, place.url, size)
  try {
    await check(connected, place, connected.size ?? size)
    return connected
  } catch (error) {
    await connected.close()
    throw error
  }
}

async function check({ sessions }: Connected, { isThere }: OwnPlace, size: number): Promise<void> {
  const opening = Array.from({ length: size }, () => sessions.open())
  try {
    const [first] = await within(limits.openMs, Promise.all(opening), () => tooFew(size))
    if (first !== undefined && !(await isThere(first))) throw elsewhere()
  } finally {
    // one that comes too late as well
    await atMost(limits.goodbyeMs, Promise.all(opening.map(async (one) => (await one).release())))
  }
}

function tooFew(size: number): ConnectError {
  return new ConnectError(
    'driver',
    `its pool does not have ${size} connections: open it with the size passed to the function, or say how ` +
      'many it has: { locks, size, close }',
  )
}

function elsewhere(): ConnectError {
  return new ConnectError('address', 'it connects to a different database from the address it was given')
}

async function opened(open: OpenLocks, url: string, size: number): Promise<Connected> {
  const own: unknown = await open(url, size)
  if (!isOwnLocks(own)) throw new ConnectError('driver', `what it returned is not locks to verify: ${shape}`)
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
      ? `; this Node does not run TypeScript: node --import tsx node_modules/holdfast/dist/cli/main.js verify ${file} ...`
      : ''
    throw new ConnectError('driver', `cannot load ${file}: ${words}${advice}`, { cause: error })
  }
}
