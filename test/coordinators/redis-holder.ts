import { createClient } from 'redis'

import { createLeases } from '../../src/entries/redis.ts'
import { holdOn } from './hold-on.ts'

/** A process that holds a lease: `redis-holder.ts <url> <key> <ttlMs>`. */
const [url = '', key = '', ttlMs = ''] = process.argv.slice(2)

const client = createClient({ url })
await client.connect()
await holdOn(createLeases(client), key, Number(ttlMs))
