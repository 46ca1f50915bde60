import { LockUsageError } from '../../core/errors.ts'
import { mustHave } from '../must-have.ts'
import { viewOf } from '../transaction-view.ts'
import { lending, type DriverAdapter, type PrismaAdapter } from './driver-adapter.ts'

/** By the name that Prisma gives to the package. */
export type KnownAdapter = '@prisma/adapter-pg' | '@prisma/adapter-mariadb' | '@prisma/adapter-better-sqlite3'

/** The methods of what is below each of them that tell a pool or a handle from anything else. */
const below: Readonly<Record<KnownAdapter, readonly string[]>> = {
  '@prisma/adapter-pg': ['connect', 'query', 'on'],
  '@prisma/adapter-mariadb': ['getConnection', 'query', 'batch'],
  '@prisma/adapter-better-sqlite3': ['prepare', 'pragma', 'close', 'defaultSafeIntegers'],
}

const own = ['queryRaw', 'executeRaw', 'startTransaction', 'onError']

/** A driver adapter through which Holdfast lends connections to Prisma. */
export interface Lockable<Adapter extends PrismaAdapter = PrismaAdapter> {
  /** For `new PrismaClient({ adapter })`. */
  readonly adapter: Adapter
  readonly name: KnownAdapter
  /** What Prisma is connected by now. */
  readonly connected: () => DriverAdapter | undefined
  /** Another one, which Prisma does not know of. */
  readonly connect: () => Promise<DriverAdapter>
}

/** Wraps a driver adapter, so that Prisma's transactions can be on connections that Holdfast has the locks on. */
export function lockable<Adapter extends PrismaAdapter>(adapter: Adapter): Lockable<Adapter> {
  const pass = 'a driver adapter, as in lockable(new PrismaPg({ connectionString }))'
  mustHave(adapter, { field: 'adapter', methods: ['connect'], pass })
  const { adapterName } = adapter as Partial<PrismaAdapter>
  if (!isKnown(adapterName))
    throw new LockUsageError(
      'adapter',
      `${adapterName ?? 'it'} is no driver adapter to lock with: ${known()}`,
    )
  let connected: DriverAdapter | undefined
  const connect = async (): Promise<DriverAdapter> => {
    const made = (await adapter.connect()) as DriverAdapter
    if (has(made, own) && has(made.client, below[adapterName])) return made
    throw new LockUsageError('adapter', `is not made as expected: ${known()}`)
  }
  const connectPrisma = async (): Promise<DriverAdapter> => {
    if (connected !== undefined) throw oneClient()
    const made = await connect()
    connected = made
    return lending(made, () => {
      if (connected === made) connected = undefined
    })
  }
  return {
    adapter: viewOf(adapter, (name) => (name === 'connect' ? connectPrisma : undefined)),
    name: adapterName,
    connected: () => connected,
    connect,
  }
}

/** The locks of one would be on connections of the other, and end with it. */
function oneClient(): LockUsageError {
  return new LockUsageError(
    'adapter',
    'another client is connected through it: call lockable once for each PrismaClient',
  )
}

function isKnown(name: string | undefined): name is KnownAdapter {
  return name !== undefined && Object.hasOwn(below, name)
}

function has(object: object, methods: readonly string[]): boolean {
  const properties = object as Readonly<Record<string, unknown>> | undefined
  return methods.every((name) => typeof properties?.[name] === 'function')
}

function known(): string {
  return `${Object.keys(below).join(', ')} 7.10 are known to work`
}
