/*
 * Three nodes start the same job, and in each period one of them runs it.
 *
 * Without the lock each node looks whether the report has been written, finds none, and writes it. A lock that is free
 * again as soon as the job is done does not help: the node whose clock is a second late would find it free and run the
 * job once more.
 */
import { openStory } from './story/story.ts'

await using story = await openStory({
  shows: 'Three nodes start one nightly job, and in each period one of them runs it.',
})
const { tables } = await story.connect()
await tables().create('report', { id: 'text', node: 'text' })

const nodes = ['ada', 'bob', 'cleo']
const everyMs = 200
const began = performance.now()
let lastRunMs = 0

async function runNode(node: string): Promise<void> {
  const { locks, tables: tablesOf } = await story.connect()
  const stop = new AbortController()
  await locks.singleton(
    'nightly-report',
    async ({ lease }) => {
      lastRunMs = performance.now() - began
      // A node that slept through the end of its lease would write beside the next one: the database refuses that.
      await locks.fenced(lease, (tx) => tablesOf(tx).insert('report', { id: `run ${lease.fence}`, node }))
      // This node is shut down after its first report, and in the next period another takes its place.
      stop.abort()
    },
    { everyMs, signal: stop.signal },
  )
}

const allHaveLooked = story.meeting(nodes.length)

async function runNodeWithoutLock(node: string): Promise<void> {
  const { unlocked, tables: tablesOf } = await story.connect()
  await unlocked(async (tx) => {
    const reports = await tablesOf(tx).find('report')
    await allHaveLooked()
    if (reports.length === 0) await tablesOf(tx).insert('report', { id: `run 1 by ${node}`, node })
  })
}

await Promise.all(nodes.map(story.withoutLock ? runNodeWithoutLock : runNode))
const reports = await tables().find<{ node: string }>('report')
console.log(`${reports.length} reports by ${new Set(reports.map(({ node }) => node)).size} nodes`)
const isOneEach = lastRunMs >= (reports.length - 1) * everyMs
console.log(isOneEach ? 'one in each period' : 'all of them in one period')
