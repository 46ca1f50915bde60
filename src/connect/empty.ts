import { ConnectError } from './connect-error.ts'
import type { Scratch } from './driver.ts'
import { whileDoing } from './failure.ts'
import { fixtureOf } from './fixture.ts'
import type { Destination } from './open.ts'
import { reach } from './reach.ts'

/** The database that an address names, to be used and left empty. Rejects where anything is in it. */
export async function useEmptyDatabase(
  destination: Destination,
): Promise<Scratch & { readonly database: string }> {
  const { driver, url, shown, database } = destination
  if (driver.endings === undefined && database === '') {
    throw new ConnectError('address', `${shown} names no database: name an empty one that may be used`)
  }
  let found: readonly string[] = []
  await reach(url, async (session) => {
    found = await driver.tables(session)
  })
  if (found.length > 0) {
    throw new ConnectError('address', `the database at ${shown} is not empty: it has ${listed(found)}`)
  }
  return { url, database: database === '' ? shown : database, drop: () => emptyAgain(destination) }
}

/** Whatever is there now has come since it was found to be empty. */
async function emptyAgain({ driver, url, shown }: Destination): Promise<void> {
  let left: readonly string[] = []
  try {
    await reach(url, async (session) => {
      const fixture = await fixtureOf(session, driver)
      left = await driver.tables(session)
      for (const table of left) await session.run(fixture.drop(table))
      left = await driver.tables(session)
    })
  } catch (error) {
    throw whileDoing(`cannot empty the database at ${shown} of ${listed(left)}`, error)
  }
  if (left.length > 0) throw new ConnectError('rights', `the database at ${shown} still has ${listed(left)}`)
}

function listed(tables: readonly string[]): string {
  const more = tables.length > 5 ? ` and ${tables.length - 5} more` : ''
  return tables.length === 0 ? 'what was made in it' : tables.slice(0, 5).join(', ') + more
}
