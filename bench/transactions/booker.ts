import { createInterface } from 'node:readline'

import { perSecond, type Load } from '../compare.ts'
import { peerWay } from './booking-peers.ts'
import { wayOf } from './bookings.ts'
import { libraryIn } from './library.ts'

/*
 * Books in one way, in a process of its own, as an application does: `booker.ts <url> <way> <connections> <first slot>
 * <library's folder>`. Told `<workers> <operations> <rooms>`, it books that many times and answers with how many that
 * are in a second. When the input ends, it ends.
 */

const [url = '', name = '', connections = '', firstSlot = '', folder = ''] = process.argv.slice(2)

const address = { url, connections: Number(connections) }
const way = wayOf(name, await libraryIn(folder), address) ?? (await peerWay(name, url, address.connections))
if (way === undefined) throw new Error(`${name} is no way to book`)

let slot = Number(firstSlot)
for await (const line of createInterface({ input: process.stdin })) {
  const [workers = 1, operations = 1, rooms = 1] = line.split(' ').map(Number)
  const load: Load = { workers, operations }
  const figure = await perSecond(load, (_, operation) => way.book(operation % rooms, (slot += 1)))
  process.stdout.write(`${figure}\n`)
}
await way.close()
