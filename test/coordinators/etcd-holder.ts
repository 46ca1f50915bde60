import { createLeases } from '../../src/entries/etcd.ts'
import { holdOn } from './hold-on.ts'

/** A process that holds a lease: `etcd-holder.ts <url> <key> <ttlMs>`. */
const [url = '', key = '', ttlMs = ''] = process.argv.slice(2)

await holdOn(createLeases({ endpoints: url.split(',') }), key, Number(ttlMs))
