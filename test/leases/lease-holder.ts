import pg from 'pg'

import { sessions } from '../../src/adapters/pg/sessions.ts'
import { identify } from '../../src/locks/identify.ts'
import { createLeases } from '../../src/locks/lease/lease.ts'
import { findDialect } from '../../src/registry.ts'

/**
 * A process that holds a lease: `lease-holder.ts <url> <name> <ttlMs> <stays or leaves>`.
 *
 * Writes its fence. One that stays also writes, each time that it was stopped for a while and goes on, whether it sees
 * that the lease is lost.
 */
const [url = '', name = '', ttlMs = '', mode = ''] = process.argv.slice(2)

const pool = new pg.Pool({ connectionString: url, allowExitOnIdle: true })
const leases = createLeases({
  sessions: sessions(pool),
  server: identify({ dialects: [findDialect('postgres')], version: undefined }),
})
const lease = await leases.take({ key: name, name, options: { ttlMs: Number(ttlMs) } })
process.stdout.write(`${lease.fence}\n`)

if (mode === 'stays') {
  let last = performance.now()
  setInterval(() => {
    const now = performance.now()
    if (now - last > 500) process.stdout.write(lease.signal.aborted ? 'lost\n' : 'held\n')
    last = now
  }, 20)
}
