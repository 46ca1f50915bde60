import { createInterface } from 'node:readline'

import { warmUp, ways, type Way } from './ways.ts'

/*
 * Another process that wants the same lock: `peer.ts <url> <way> <name> <ttlMs> <cycles to warm up>`. Told `take`, it answers with the
 * moment at which it had it, on the clock that all processes of a machine share; told `release`, when it has released.
 */

const [url = '', way = '', name = '', ttlMs = '', cycles = '0'] = process.argv.slice(2)
const contender = ways[way as Way](url)
await warmUp(contender, Number(cycles))
let release = async (): Promise<void> => {}

for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'take') release = await contender.take(name, Number(ttlMs))
  else await release()
  process.stdout.write(`${process.hrtime.bigint()}\n`)
}
await contender.close()
