import { byHandSide } from '../queues/by-hand.ts'
import { holdfastSide } from '../queues/holdfast.ts'
import { pgBossSide } from '../queues/pg-boss.ts'
import type { QueueSide } from '../queues/queue-side.ts'
import type { Bench, Section } from '../scenario.ts'
import { curveOf, type Point } from './curve.ts'

const workers = 64

/** Jobs that wait in a queue. Each way has a table of its own for each number of them. */
export async function jobs(bench: Bench, url: string, counts: readonly number[]): Promise<Section> {
  const perRound = bench.effort === 'glimpse' ? 20 : 2000
  const reach = { url, maxWorkers: 20 }
  const opened: QueueSide[] = []
  const pointOf = async (way: string, count: number, side: QueueSide): Promise<Point> => {
    bench.say(`${way}: filling a queue with ${count} jobs`)
    opened.push(side)
    await side.open(0)
    await side.fill(count)
    const cost = async (): Promise<number> => {
      const speed = await side.drain({ workers, batch: 1, jobs: perRound })
      await side.fill(perRound)
      return 1_000_000 / speed
    }
    return { way, count, cost }
  }
  const points: Point[] = []
  try {
    for (const count of counts) {
      const own = holdfastSide({ ...reach, name: 'Holdfast', table: `scale_${count}_job`, done: 'set' })
      const hand = byHandSide({ ...reach, form: 'claimed', table: `hand_${count}_job` })
      points.push(await pointOf('Holdfast', count, own), await pointOf('by hand', count, hand))
    }
    const [most = 0] = counts.slice(-1)
    const boss = bench.effort === 'full' ? await pgBossSide(reach) : undefined
    if (boss !== undefined) points.push(await pointOf('pg-boss', most, boss))
    const title = `a job that waits with others, ${workers} workers`
    const notes = ['Claimed and completed one at a time, on 20 connections. As many are added as were done.']
    return await curveOf(bench, { title, unit: 'us', points, rounds: 5, notes })
  } finally {
    for (const side of opened) await side.close()
  }
}
