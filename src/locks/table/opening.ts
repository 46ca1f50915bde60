import { deadlineIn, type Deadline } from '../../core/deadline.ts'
import { LockTimeoutError, LockUsageError } from '../../core/errors.ts'
import type { Wait } from '../../core/request.ts'
import { askAgain, type LockStory } from '../../events/lock-story.ts'
import { NoAnswerError } from '../limit.ts'
import { asTimeout } from '../open-session.ts'
import { askedOn, limitedBy, naming, notAvailable, type Asked } from '../refused.ts'
import type { Job } from '../transaction/job.ts'
import { tellOpening } from '../transaction/lock-stories.ts'
import { nameOf, tableLocks } from './held.ts'
import type { TableLock } from './options.ts'
import type { TableOpening } from './port.ts'
import { prepareTables } from './prepare.ts'

/** Runs a transaction that locks its `tables` before its first statement. `began`: when it was asked for. */
export async function runWithTables<Tx, T>(
  call: Job<Tx, T>,
  began: number,
  run: (job: Job<Tx, T>) => Promise<T>,
): Promise<T> {
  const { port, candidates, planTable, options } = call
  const locks = tableLocks(options.tables ?? [])
  const wait = oneWait(locks)
  const stories = tellOpening(port, () =>
    locks.map(({ table, mode = 'exclusive' }) => ({ kind: 'table', table, mode, wait })),
  )
  let isGranted = false
  const opening: TableOpening = {
    wait,
    deadline: waitDeadline(wait),
    stories,
    waitAnew: () => {
      opening.deadline = waitDeadline(wait)
    },
    prepare: (open) => {
      isGranted = false
      for (const story of stories ?? []) askAgain(story)
      const onGranted = (): void => {
        isGranted = true
      }
      return prepareTables(open, { locks, wait, planTable, stories, onGranted })
    },
  }
  try {
    return await run({ ...call, tables: opening })
  } catch (error) {
    const asked = limitedBy(options, askedOn(port, askedOf(locks, { wait, began })))
    throw told(refusalOf(error, asked, isGranted), stories, candidates)
  }
}

function told(
  refusal: unknown,
  stories: readonly LockStory[] | undefined,
  candidates: Job<never, never>['candidates'],
): unknown {
  for (const story of stories ?? []) story.refused(refusal, candidates)
  return refusal
}

/** One statement, or one BEGIN, may lock all of them: it has one way to wait. */
function oneWait(locks: readonly TableLock[]): TableOpening['wait'] {
  const waits = new Map(locks.map(({ wait = 'block' }) => [JSON.stringify(wait), wait]))
  const [wait = 'block', ...others] = waits.values()
  if (others.length === 0) return wait
  throw new LockUsageError(
    'wait',
    'the tables of one transaction are waited for alike: say the same for each',
  )
}

function waitDeadline(wait: Wait): Deadline {
  return deadlineIn(typeof wait === 'object' ? wait.timeoutMs : undefined)
}

function askedOf(locks: readonly TableLock[], { wait, began }: Pick<Asked, 'wait' | 'began'>): Asked {
  const [first, second] = locks
  const names = locks.map(({ table }) => nameOf(table)).join(', ')
  const asked = { label: `table lock${second === undefined ? '' : 's'} on ${names}`, wait, began }
  if (first === undefined || second !== undefined) return asked
  return { ...asked, table: first.table, mode: first.mode ?? 'exclusive' }
}

/** What is refused once the tables are locked is another lock of the work's. */
function refusalOf(thrown: unknown, asked: Asked, isGranted: boolean): unknown {
  if (isGranted) return thrown
  const error = typeof asked.wait === 'object' ? asTimeout(thrown) : thrown
  // where BEGIN is the lock, it has no word for not waiting but a deadline that is over
  if (asked.wait === 'nowait' && error instanceof LockTimeoutError && !(error instanceof NoAnswerError))
    return notAvailable(asked, error)
  return naming(error, asked)
}
