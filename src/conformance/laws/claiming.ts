import type { Job } from '../../locks/queue/job.ts'
import { idsOf } from '../job-table.ts'
import type { Stage } from '../stage.ts'

export function expectIds(stage: Stage, jobs: readonly Job[], expected: readonly number[]): void {
  const ids = idsOf(jobs).join()
  stage.expect(
    ids === expected.join(),
    `the jobs ${ids || 'none'} were claimed, not ${expected.join() || 'none'}`,
  )
}

/** Writes down which jobs somebody claims. */
export async function noted(
  stage: Stage,
  name: string,
  work: Promise<readonly Job[]>,
): Promise<readonly Job[]> {
  await stage.note(name, 'claim', work.then(idsOf))
  return work
}
