import Database from 'better-sqlite3'

import { createLocks } from '../../src/entries/better-sqlite3.ts'

/*
 * A process that drops leases: `node --expose-gc --import tsx dropped-lease.ts`.
 *
 * Says which warnings came.
 */

const warnings: string[] = []
process.on('warning', ({ name, message }) => void warnings.push(`${name}: ${message}`))

const locks = createLocks(new Database(':memory:'))

const dropAll = async (): Promise<unknown> => {
  await locks.lease('the dropped one')
  await locks.lease('the one that has ended', { ttlMs: 100, renew: false })
  // another has it by then
  return locks.lease('the one that has ended')
}

const kept = await dropAll()
const collect = (): void => {
  globalThis.gc?.()
  if (warnings.length === 0) setTimeout(collect, 20)
  else setTimeout(() => process.send?.({ warnings, isKept: kept !== undefined }, () => process.exit()), 100)
}
collect()
