import { randomBytes } from 'node:crypto'

/** A name for a database that no other test file uses. */
export function databaseName(): string {
  return `holdfast_${randomBytes(6).toString('hex')}`
}

/** The same address, leading into another database. */
export function intoDatabase(url: string, database: string): string {
  const address = new URL(url)
  address.pathname = `/${database}`
  return address.href
}

/** A connection that says when it has ended. */
interface Ending {
  once: (event: 'end', listener: () => void) => unknown
}

/** Gives the connection that is open, or opens a new one after it has ended, as it does when a server restarts. */
export function keptOpen<C extends Ending>(open: () => Promise<C>): () => Promise<C> {
  let current: Promise<C> | undefined
  const reopen = async (): Promise<C> => {
    try {
      const connection = await open()
      connection.once('end', () => (current = undefined))
      return connection
    } catch (error) {
      current = undefined
      throw error
    }
  }
  return () => (current ??= reopen())
}
