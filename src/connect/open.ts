import type { Connected } from '../conformance/subject.ts'
import { identify } from '../locks/identify.ts'
import { findDialect, type DialectName } from '../registry.ts'
import { describeAddress, parseAddress } from './address.ts'
import type { Driver } from './driver.ts'
import { findDriver } from './drivers.ts'
import { openFailure, type Place } from './failure.ts'
import { limits } from './limits.ts'
import { loadDriver } from './load-module.ts'
import { within } from './within.ts'

export { ConnectError } from './connect-error.ts'
export { describeAddress } from './address.ts'

/** A pool that was opened by its address. */
export interface OpenUrl extends Connected {
  /** For people, without secrets. */
  readonly title: string
  readonly adapter: string
  readonly dialects: readonly DialectName[]
}

/** Where an address leads, before anybody has gone there. */
export interface Destination extends Place {
  /** As drivers read it. */
  readonly url: string
  /** Empty for a file, and where the address names none. */
  readonly database: string
  readonly title: string
}

/**
 * Opens a pool of about `size` connections at an address, and sees that it answers.
 *
 * A file must exist. Rejects with {@link ConnectError}, after ten seconds at the latest.
 */
export async function openUrl(url: string, size = 4): Promise<OpenUrl> {
  const destination = destinationOf(url)
  const { driver, title } = destination
  const connected = await openAt(destination, await loadDriver(driver), size)
  return { ...connected, title, adapter: driver.name, dialects: driver.dialects }
}

/** Reads an address. Throws {@link ConnectError}. */
export function destinationOf(url: string): Destination {
  const driver = findDriver(url)
  const shown = describeAddress(url)
  const title = `${shown} through ${driver.name}`
  if (driver.endings !== undefined) return { driver, shown, title, url, user: '', database: '', secrets: [] }
  return { driver, shown, title, ...parseAddress(url, driver.example) }
}

async function openAt(place: Destination, module: unknown, size: number): Promise<Connected> {
  const opening = place.driver.open(module, place.url, size)
  try {
    return await within(
      limits.openMs,
      answering(opening, place.driver),
      () => new Error('it does not answer'),
    )
  } catch (error) {
    // what is still on its way is not waited for
    void opening.then((connected) => connected.close()).catch(() => {})
    throw openFailure(error, place)
  }
}

async function answering(opening: Promise<Connected>, { dialects }: Driver): Promise<Connected> {
  const connected = await opening
  const session = await connected.sessions.open()
  await identify({ dialects: dialects.map(findDialect), version: undefined })(session)
  await session.release()
  return connected
}
