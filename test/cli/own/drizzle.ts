import { drizzle } from 'drizzle-orm/node-postgres'
import pg from 'pg'

import { createLocks } from '../../../src/entries/drizzle.ts'
import type { OpenLocks } from '../../../src/entries/conformance.ts'

/** An application's own locks, as `holdfast verify` is given them. */
const open: OpenLocks = (url, max) => {
  const pool = new pg.Pool({ connectionString: url, max })
  pool.on('error', () => {})
  return { locks: createLocks(drizzle(pool)), close: () => pool.end() }
}

export default open
