/*
 * Three nodes start the same job, and in each period one of them runs it.
 *
 * Without the lock there would be three reports in each period. A lock that is free again as soon as the job is done
 * does not help: the node whose clock is a second late would find it free and run the job once more.
 */
import { openMongodb } from '../databases/mongodb.ts'

await using database = await openMongodb()
const { db } = await database.connect()
const report = await db.createCollection<{ fence: number; node: string }>('report')

const everyMs = 400
const began = performance.now()

async function runNode(node: string): Promise<void> {
  const { locks } = await database.connect()
  const stop = new AbortController()
  await locks.singleton(
    'nightly-report',
    async ({ lease }) => {
      // A node that slept through the end of its lease would write beside the next one: the database refuses that.
      await locks.fenced(lease, async (tx) => {
        const { session } = tx
        await tx.db.collection('report').insertOne({ fence: lease.fence, node }, { session })
      })
      // This node is shut down after its first report, and in the next period another takes its place.
      stop.abort()
    },
    { everyMs, signal: stop.signal },
  )
}

await Promise.all(['ada', 'bob', 'cleo'].map(runNode))
const passed = performance.now() - began
const reports = await report.find().toArray()
console.log(`${reports.length} reports by ${new Set(reports.map(({ node }) => node)).size} nodes`)
console.log(passed >= 2 * everyMs ? 'one in each period' : 'more than one in a period')
