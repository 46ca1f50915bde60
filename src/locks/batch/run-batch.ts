import { checkObject } from '../../core/check-field.ts'
import { LockUsageError } from '../../core/errors.ts'
import type { Row } from '../../core/statement.ts'
import type { Dialect } from '../../dialects/dialect.ts'
import type { Whole } from '../transaction/job.ts'
import type { OpenTransaction } from '../port.ts'
import { isGuardError, sendEach, wholeOf } from './batch.ts'
import { checkStatements } from './statement.ts'

type Answers = readonly (readonly Row[])[]

/** Runs work under the lock, or its statements as a whole where the server can take them so. */
export type RunUnderLock = (
  whole: Whole<Answers>,
  oneByOne: (open: OpenTransaction<unknown>) => Promise<Answers>,
) => Promise<Answers>

/** What a batch is made of, as it was given. */
export interface BatchCall {
  readonly statements: unknown
  readonly options: object
  readonly candidates: readonly Dialect[]
}

/** Runs the statements under a lock. Gives the rows of each, or undefined where an expectation was not met. */
export async function runBatch(
  run: RunUnderLock,
  { statements, options, candidates }: BatchCall,
): Promise<Answers | undefined> {
  const checked = checkStatements(statements)
  checkObject('options', options)
  for (const field of ['nested', 'tables'])
    if (field in options) throw new LockUsageError(field, 'is not an option of a batch: use withLock')
  try {
    return await run(wholeOf(checked), (open) => sendEach(open, checked))
  } catch (error) {
    if (await isGuardError(error, candidates)) return undefined
    throw error
  }
}
