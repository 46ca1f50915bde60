import { LockLostError } from '../../src/core/errors.ts'
import type { Job } from '../../src/locks/queue/job.ts'
import { effectOf, effectOfClaim, patientJobs, type JobRow } from './job-table.ts'
import { openWorkshop } from './workshop.ts'

/*
 * A process of workers: `worker.ts <engine> <url> <name> <workers> <visibilityMs>`.
 *
 * Each job leaves one effect, stored together with the end of the job; on MongoDB before it, since there the transaction
 * of a process that dies holds its documents for a minute. Says `ready` when it works, `failed` with the
 * reason of every job that did not end well, and ends when its parent says `stop`.
 */

export type FromWorker = 'ready' | { readonly failed: string }

const [engine = '', url = '', name = '', workers = '', visibilityMs = ''] = process.argv.slice(2)
const say = (message: FromWorker): void => void process.send?.(message)
const shop = await openWorkshop(engine, url)
const stop = new AbortController()
process.on('message', () => stop.abort())
process.on('disconnect', () => process.exit())

const atOnce = (job: Job<JobRow>): Promise<void> =>
  shop.transaction(async (tx, run) => {
    await run(effectOf(false, Number(job.id), name))
    await job.complete({ tx })
  })

const oneByOne = async (job: Job<JobRow>): Promise<void> => {
  await shop.run(effectOfClaim(Number(job.id), name, job.token))
  await job.complete()
}

say('ready')
await shop.claims.work(patientJobs(Number(visibilityMs)), engine === 'mongodb' ? oneByOne : atOnce, {
  worker: name,
  concurrency: Number(workers),
  signal: stop.signal,
  idleMs: 200,
  // a process that gets no time to run loses jobs to others, as one that is killed does
  onError: (error) => {
    if (!(error instanceof LockLostError)) say({ failed: String(error) })
  },
})
await shop.close()
process.disconnect()
