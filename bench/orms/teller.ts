import { createInterface } from 'node:readline'

import { perSecond } from '../compare.ts'
import { libraryIn } from '../transactions/library.ts'
import { openTill } from './tills.ts'

/*
 * Works through one ORM in one way, in a process of its own, as an application does: `teller.ts <url> <orm> <way>
 * <connections> <library's folder>`. Told `<withdraw or upload> <operations> <spread>`, it works that many
 * times and answers with how many that are in a second. When the input ends, it ends.
 */

const [url = '', orm = '', way = '', connections = '', folder = ''] = process.argv.slice(2)

const till = openTill({ orm, way }, await libraryIn(folder), { url, connections: Number(connections) })

for await (const line of createInterface({ input: process.stdin })) {
  const [what, ...numbers] = line.split(' ')
  const [operations = 1, spread = 1] = numbers.map(Number)
  const work = what === 'upload' ? till.upload : till.withdraw
  process.stdout.write(
    `${await perSecond({ workers: 1, operations }, (_, operation) => work(operation % spread))}\n`,
  )
}
await till.close()
