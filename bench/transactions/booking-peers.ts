import { loadPeer, peerVersion } from '../peers.ts'
import { bookOn, poolOf, type Way } from './bookings.ts'

/** Of a CommonJS module the default export is in another one, or not, as whoever loads it sees fit. */
interface Loaded<T> {
  readonly default: T | { readonly default: T }
}

type AdvisoryLock = (url: string) => (name: string) => {
  readonly withLock: <T>(work: () => Promise<T>) => Promise<T>
}

type MutexLockClass = new (options: { readonly database: object }) => {
  acquireLock(key: string): Promise<boolean>
  releaseLock(key: string): Promise<boolean>
  end(): Promise<void>
}

function exportOf<T extends object>(module: Loaded<T>): T {
  const found = module.default
  return 'default' in found ? found.default : found
}

const peers = ['advisory-lock', 'pg-mutex-lock'] as const

/** Packages that lock beside the transaction: what is booked is booked in one of its own. */
export async function installedPeers(): Promise<readonly string[]> {
  const versions = await Promise.all(peers.map(peerVersion))
  return peers.filter((_, index) => versions[index] !== undefined)
}

export async function peerWay(name: string, url: string, connections: number): Promise<Way | undefined> {
  if (name === 'advisory-lock') {
    const loaded = await loadPeer<Loaded<AdvisoryLock>>(name)
    return loaded && byAdvisoryLock(exportOf(loaded), url, connections)
  }
  const loaded = name === 'pg-mutex-lock' ? await loadPeer<Loaded<MutexLockClass>>(name) : undefined
  return loaded && byMutexLock(exportOf(loaded), url, connections)
}

function byAdvisoryLock(create: AdvisoryLock, url: string, connections: number): Way {
  const mutexOf = create(url)
  const { bookAlone, close } = bookingAlone(url, connections)
  return {
    name: 'advisory-lock',
    book: (room, slot) => mutexOf(`room ${room}`).withLock(() => bookAlone(room, slot)),
    close,
  }
}

function byMutexLock(Mutex: MutexLockClass, url: string, connections: number): Way {
  const { hostname, port, pathname, username, password } = new URL(url)
  const database = {
    host: hostname,
    port: Number(port),
    database: pathname.slice(1),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password) || 'none', // it insists on one
  }
  const mutex = new Mutex({ database })
  const { bookAlone, close } = bookingAlone(url, connections)
  return {
    name: 'pg-mutex-lock',
    book: async (room, slot) => {
      await mutex.acquireLock(`room ${room}`)
      await bookAlone(room, slot).finally(() => mutex.releaseLock(`room ${room}`))
    },
    close: async () => {
      await mutex.end()
      await close()
    },
  }
}

function bookingAlone(
  url: string,
  connections: number,
): { readonly bookAlone: Way['book']; readonly close: Way['close'] } {
  const pool = poolOf(url, connections)
  const bookAlone: Way['book'] = async (room, slot) => {
    const client = await pool.connect()
    try {
      await client.query('BEGIN')
      await bookOn(client, room, slot)
      await client.query('COMMIT')
    } finally {
      client.release()
    }
  }
  return { bookAlone, close: () => pool.end() }
}
