import { createInterface } from 'node:readline'

import { perSecond, type Load } from '../compare.ts'
import { libraryIn } from './library.ts'
import type { StockEngine } from './stock-shop.ts'
import { shopOf } from './stocks.ts'

/*
 * Sells in one way, in a process of its own, as an application does: `seller.ts <engine> <url> <way> <connections>
 * <library's folder>`. Told `<workers> <operations> <articles>`, it sells that many times and answers with how many that
 * are in a second. When the input ends, it ends.
 */

const [engine = '', url = '', name = '', connections = '', folder = ''] = process.argv.slice(2)

const place = { engine: engine as StockEngine, url, connections: Number(connections) }
const shop = shopOf(name, await libraryIn(folder), place)
if (shop === undefined) throw new Error(`${name} is no way to sell`)

for await (const line of createInterface({ input: process.stdin })) {
  const [workers = 1, operations = 1, articles = 1] = line.split(' ').map(Number)
  const load: Load = { workers, operations }
  process.stdout.write(`${await perSecond(load, (_, operation) => shop.sell(operation % articles))}\n`)
}
await shop.close()
