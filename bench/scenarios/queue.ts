import { compare, type Comparison } from '../compare.ts'
import { shortCount } from '../figures.ts'
import { byHand, byHandSide } from '../queues/by-hand.ts'
import { graphileWorkerSide } from '../queues/graphile-worker.ts'
import { holdfastSide } from '../queues/holdfast.ts'
import { pgBossSide } from '../queues/pg-boss.ts'
import type { QueueLoad, QueueSide } from '../queues/queue-side.ts'
import { roundsFor } from '../effort.ts'
import type { Bench, Goal, Scenario, Section } from '../scenario.ts'

const own = 'Holdfast'
const ownDeleting = 'Holdfast, deleting'

export const scenario: Scenario = {
  id: 'queue',
  title: 'A work queue on PostgreSQL: claim and complete',
  about: `
Jobs are claimed and completed, one, ten or a hundred at a time, by 1, 4 and 16 workers of one process, in a table that
has finished jobs in it already. The jobs themselves do nothing, so all that is measured is the queue.

- **Holdfast**: \`locks.claim(queue, { limit })\`, then \`job.complete()\` or \`locks.complete(queue, jobs)\`: two statements.
  Finished jobs stay in the table, or go (*deleting*).
- **by hand, claim in four statements**: BEGIN, SELECT ... FOR UPDATE SKIP LOCKED, UPDATE, COMMIT, and then an UPDATE that
  completes the job. It does the same as Holdfast, by the clock of the client.
- **by hand, transaction held**: BEGIN, SELECT ... FOR UPDATE SKIP LOCKED, UPDATE, COMMIT, with the job run in between. It does
  less: the job is held by an open transaction on a connection of its own for as long as it runs, nobody counts
  attempts, and a job whose worker hangs does not come back. It writes each row once, where a claim that outlives its
  transaction has to write it twice.
- **pg-boss**: \`fetch\` with a batch size, \`complete\` with all ids. Finished jobs stay in the table.
- **graphile-worker**: the settings that its own page on performance calls the fastest. It deletes finished jobs, so it is
  compared with Holdfast deleting them, and takes 500 jobs at a time whatever the workers and the batch are.
`,
  run: async (bench) => {
    const server = await bench.server('postgres')
    if (server === undefined) return []
    const sections: Section[] = []
    for (const { finished, loads } of plans[bench.effort])
      sections.push(...(await runSize(bench, { url: server.url, finished, loads })))
    return sections
  },
}

interface Size {
  readonly finished: number
  readonly loads: readonly QueueLoad[]
}

/** Enough jobs that a round takes some tenths of a second. */
const loadOf = (workers: number, batch: number): QueueLoad => ({
  workers,
  batch,
  jobs: batch === 1 ? (workers === 1 ? 500 : 1500) : batch * (workers === 1 ? 50 : 80),
})

const plan: readonly Size[] = [
  {
    finished: 1000,
    loads: [1, 10, 100].flatMap((batch) => [1, 4, 16].map((workers) => loadOf(workers, batch))),
  },
  { finished: 100_000, loads: [loadOf(16, 1), loadOf(16, 100)] },
  { finished: 1_000_000, loads: [loadOf(16, 1), loadOf(16, 100)] },
]

const glimpsePlan: readonly Size[] = [
  {
    finished: 50,
    loads: [
      { workers: 2, batch: 1, jobs: 20 },
      { workers: 2, batch: 10, jobs: 40 },
      { workers: 2, batch: 100, jobs: 300 },
    ],
  },
]

/** What has a goal, in a table of one size. */
const quickPlan: readonly Size[] = [
  {
    finished: 1000,
    loads: [
      ...[1, 16].map((workers) => ({ workers, batch: 1, jobs: 200 })),
      ...[1, 4, 16].map((workers) => ({ workers, batch: 100, jobs: 2000 })),
    ],
  },
]

const plans = { glimpse: glimpsePlan, quick: quickPlan, full: plan } as const

async function runSize(bench: Bench, size: Size & { readonly url: string }): Promise<readonly Section[]> {
  const { url, finished, loads } = size
  const maxWorkers = Math.max(...loads.map(({ workers }) => workers))
  const reach = { url, maxWorkers }
  const all = [
    holdfastSide({ ...reach, name: own, table: 'holdfast_job', done: 'set' }),
    holdfastSide({ ...reach, name: ownDeleting, table: 'holdfast_gone_job', done: 'delete' }),
    byHandSide({ ...reach, form: 'claimed' }),
    byHandSide({ ...reach, form: 'held' }),
    await pgBossSide(reach),
    await graphileWorkerSide(reach),
  ]
  const sides = all.filter((side) => side !== undefined)
  bench.say(`filling tables with ${shortCount(finished)} finished jobs`)
  for (const side of sides) await side.open(finished)
  const sections: Section[] = []
  for (const load of loads) sections.push(bench.show(await runLoad(bench, { sides, load, finished })))
  for (const side of sides) await side.close()
  return sections
}

interface Situation {
  readonly sides: readonly QueueSide[]
  readonly load: QueueLoad
  readonly finished: number
}

async function runLoad(bench: Bench, { sides, load, finished }: Situation): Promise<Section> {
  const { workers, batch } = load
  const title = `claim ${batch} + complete ${batch}, ${workers} worker${workers === 1 ? '' : 's'}, ${shortCount(finished)} finished`
  const promised = new Set(promisesOf(load).flatMap(({ mine, other }) => [mine, other]))
  const isAsked = (name: string): boolean =>
    bench.effort === 'quick' ? promised.has(name) : batch >= 100 || name !== 'graphile-worker'
  const fit = sides.filter(({ name }) => isAsked(name))
  const compared = await compare(
    fit.map((side) => ({ name: side.name, round: () => roundOf(side, load) })),
    { ...roundsFor(bench.effort, { rounds: 5 }), title, say: bench.say },
  )
  return { title, unit: 'jobs/s', isMoreBetter: true, rows: compared.rows, goals: goalsOf(compared, load) }
}

async function roundOf(side: QueueSide, load: QueueLoad): Promise<number> {
  await side.fill(load.jobs)
  const figure = await side.drain(load)
  const left = await side.left()
  if (left > 0) throw new Error(`${side.name}: ${left} jobs are left`)
  await side.clear()
  return figure
}

interface Promised {
  readonly mine: string
  readonly other: string
  readonly must: number
}

function promisesOf({ workers, batch }: QueueLoad): readonly Promised[] {
  // what is held by an open transaction is not claimed: it is shown, and is no goal
  if (batch === 1 && workers !== 4) return [{ mine: own, other: byHand.claimed, must: 1.6 }]
  if (batch !== 100) return []
  return [
    { mine: own, other: 'pg-boss', must: 1 },
    { mine: ownDeleting, other: 'graphile-worker', must: 1 },
  ]
}

function goalsOf({ ratio, figures }: Comparison, load: QueueLoad): readonly Goal[] {
  const { workers, batch } = load
  // a package may not be installed
  const promised = promisesOf(load).filter(({ other }) => figures.has(other))
  return promised.map(({ mine, other, must }) => ({
    what: `${mine} to ${other}, ${batch} at a time, ${workers} workers`,
    ...ratio(mine, other),
    must,
  }))
}
