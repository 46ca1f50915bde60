import { warmUp, ways, type Way } from './ways.ts'

/*
 * A process of contenders, each with connections of its own: `contender.ts <url> <way> <name> <how many> <cycles to
 * warm up>`. Each takes the lock and gives it back, again and again. Told anything, it answers with how often each has had it, and when the
 * input ends, it ends.
 */

const [url = '', way = '', name = '', count = '1', cycles = '0'] = process.argv.slice(2)

const contenders = Array.from({ length: Number(count) }, () => ways[way as Way](url))
const grants = contenders.map(() => 0)
let isOver = false

async function contend(index: number): Promise<void> {
  while (!isOver) {
    const release = await contenders[index]?.take(name)
    grants[index] = (grants[index] ?? 0) + 1
    await release?.()
  }
}

for (const contender of contenders) await warmUp(contender, Number(cycles) / contenders.length)
const contests = contenders.map((_, index) => contend(index))

process.stdin.on('data', () => process.stdout.write(`${JSON.stringify(grants)}\n`))
process.stdin.on('end', () => {
  isOver = true
  void Promise.all(contests).then(() => Promise.all(contenders.map(({ close }) => close())))
})
