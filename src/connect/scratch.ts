import { randomBytes } from 'node:crypto'
import type { Connected, Subject } from '../conformance/subject.ts'
import { ConnectError } from './connect-error.ts'
import type { Driver, Reach, Scratch } from './driver.ts'
import { useEmptyDatabase } from './empty.ts'
import { openFailure, whileDoing } from './failure.ts'
import { fixtureOf } from './fixture.ts'
import { loadDriver } from './load-module.ts'
import { destinationOf, openUrl, type Destination } from './open.ts'
import { openOwn, type OpenLocks, type OwnPlace } from './own-locks.ts'
import { reach } from './reach.ts'

/** How a database for the laws is made and reached. */
export interface ScratchOptions {
  /**
   * The address leads into an empty database that may be used, for users who may not make one. It is refused when
   * anything is in it, and left empty.
   */
  readonly useEmpty?: boolean
  /** The application's own locks, where they are to be tried instead of those on the driver alone. */
  readonly own?: { readonly name: string; readonly open: OpenLocks } | undefined
}

/** A database to try things in, until it is dropped. */
export interface ScratchSubject extends Subject {
  /** What the database is called, or where its file is: for messages, and for those who have to remove it by hand. */
  readonly database: string
  /** Closes every pool that was opened on it and removes it. Rejects, naming it, when it is still there. */
  readonly drop: () => Promise<void>
}

interface NamedScratch extends Scratch {
  readonly database: string
}

/** What scratch databases are called, and files without their ending. */
export const scratchName: RegExp = /^holdfast_verify_[0-9a-f]{12}$/

/**
 * Makes a database that nobody else uses, beside the one that an address names, and touches nothing else.
 *
 * Rejects with {@link ConnectError}, and leaves nothing behind.
 */
export async function openScratch(
  url: string,
  { useEmpty = false, own }: ScratchOptions = {},
): Promise<ScratchSubject> {
  const destination = destinationOf(url)
  const scratch = useEmpty ? await useEmptyDatabase(destination) : await makeScratch(destination)
  const { title, driver, shown } = destination
  if (own === undefined) return subjectOn(scratch, { title, driver })
  try {
    const { name, open } = own
    const place = { url: scratch.url, isThere: await markIn(scratch.url, driver) }
    const connect = (size: number): Promise<Connected> =>
      openOwn(open, place, size).catch((error: unknown) => {
        throw whileDoing(`${name} cannot be used`, openFailure(error, destination))
      })
    return subjectOn(scratch, {
      title: `${shown} through ${name}`,
      driver,
      through: { adapter: name, connect },
    })
  } catch (error) {
    await scratch.drop().catch(() => {})
    throw error
  }
}

/** Makes a table by which the database is known again. */
async function markIn(url: string, driver: Driver): Promise<OwnPlace['isThere']> {
  const mark = `holdfast_here_${randomBytes(6).toString('hex')}`
  await reach(url, async (session) => session.run((await fixtureOf(session, driver)).create(mark)))
  return async (session) => (await driver.tables(session)).includes(mark)
}

/** How a database is reached, where that is not by its driver alone. */
interface Through {
  readonly adapter: string
  readonly connect: Subject['connect']
}

/** A database as what laws are run on. */
export function subjectOn(
  { url, database, application, drop }: NamedScratch,
  { title, driver, through }: Pick<Destination, 'title' | 'driver'> & { readonly through?: Through },
): ScratchSubject {
  const { adapter, connect } = through ?? {
    adapter: driver.name,
    connect: (size: number) => openUrl(url, size),
  }
  const open = new Set<Promise<Connected>>()
  let dropping: Promise<void> | undefined
  const dropAll = async (): Promise<void> => {
    await Promise.allSettled([...open].map(async (one) => (await one).close()))
    await drop()
  }
  return {
    title,
    database,
    adapter,
    ...(application !== undefined && { application }),
    dialects: driver.dialects,
    connect: (size) => {
      if (dropping !== undefined) return Promise.reject(new Error('the scratch database was dropped'))
      const connected = connect(size)
      open.add(connected)
      return connected
    },
    drop: async () => {
      dropping ??= dropAll()
      try {
        await dropping
      } catch (error) {
        dropping = undefined // it may be tried again
        throw error
      }
    },
  }
}

async function makeScratch(destination: Destination): Promise<NamedScratch> {
  const { driver, url, shown } = destination
  const name = `holdfast_verify_${randomBytes(6).toString('hex')}`
  let mayBeThere = driver.endings !== undefined
  const noting: Reach = (to, work) =>
    reach(to, (session) => {
      mayBeThere = true
      return work(session)
    })
  const scratch = driver.scratch({ module: await loadDriver(driver), url, name, reach: noting })
  try {
    await scratch.make()
    await checkInside(scratch.url, name, driver)
  } catch (error) {
    if (mayBeThere) await scratch.drop().catch(() => {})
    throw whileDoing(`cannot create the scratch database ${name}`, error, adviceFor(error, driver))
  }
  const drop = (): Promise<void> =>
    scratch.drop().catch((error: unknown) => {
      throw whileDoing(`the scratch database ${name} at ${shown} could not be removed`, error)
    })
  return { ...scratch, database: driver.endings === undefined ? name : scratch.url, drop }
}

/** A pooler may lead every name to the same database. */
async function checkInside(url: string, name: string, { currentDatabase }: Driver): Promise<void> {
  if (currentDatabase === undefined) return
  await reach(url, async (session) => {
    const [row] = await session.run(currentDatabase)
    if (row?.name !== name)
      throw new ConnectError('rights', `its address leads into ${String(row?.name)} instead`)
  })
}

function adviceFor(error: unknown, { scratchNeeds }: Driver): string {
  if (!(error instanceof ConnectError) || error.failure !== 'rights') return ''
  return `. It needs: ${scratchNeeds}. Or pass the address of an empty database, and say that it may be used (useEmpty)`
}
