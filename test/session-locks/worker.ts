import { partyOn } from './stage.ts'

/*
 * A process that counts: `worker.ts <engine> <url> <how>`.
 *
 * `count` adds to the sample's number in two steps, many times and under the lock; `count without` does the same without
 * it; `hold` takes the lock, says so, and stays. Says `ready` first, and begins when it is told to.
 */

const [engine = '', url = '', how = ''] = process.argv.slice(2)
const key = ['session-locks', 'worker']
const flows = 4
const rounds = 15

const party = partyOn(engine, url, { max: 8 })

async function addOne(): Promise<void> {
  const session = await party.borrow()
  const [row] = await session.run({ sql: 'select n from counter where id = 1', params: [] })
  await session.run({ sql: `update counter set n = ${Number(row?.n) + 1} where id = 1`, params: [] })
  await session.release()
}

async function count(): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    const held = how === 'count' ? await party.acquire(key) : undefined
    await addOne()
    await held?.release()
  }
}

process.once('message', async () => {
  if (how === 'hold') {
    await party.acquire(key)
    process.send?.('held')
    return
  }
  await Promise.all(Array.from({ length: flows }, count))
  await party.close()
  process.send?.(flows * rounds, () => process.exit())
})
process.on('disconnect', () => process.exit())
process.send?.('ready')
