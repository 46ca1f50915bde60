import { LockUsageError } from '../../core/errors.ts'
import { withLoan, type Loan } from './driver-adapter.ts'

/** What is used of a Prisma client. */
export interface PrismaClientLike {
  $connect(): Promise<unknown>
  // the typings of a generated client say much more about these
  $extends: unknown
  $transaction: unknown
}

interface Callable {
  $transaction(
    work: (tx: object) => Promise<unknown>,
    options: { readonly maxWait: number; readonly timeout: number },
  ): Promise<unknown>
}

/** Prisma ends a transaction after `timeout`; more than this is one millisecond to the timers of JavaScript. */
const LONGEST_MS = 2 ** 31 - 1

/** A transaction of Prisma's that is under way. */
export interface Begun {
  readonly tx: object
  /** Lets Prisma forget it. */
  readonly end: () => void
}

/** Asks Prisma for a transaction that is on what the loan gives. */
export function begun(client: object, take: Loan['take']): Promise<Begun> {
  const loan: Loan = { take }
  return new Promise((resolve, reject) => {
    const work = (tx: object): Promise<unknown> =>
      new Promise((end, refuse) => {
        if (loan.take === undefined) resolve({ tx, end: () => end(undefined) })
        else refuse(new LockUsageError('held', 'is not what the client was made with: give it held.adapter'))
      })
    const options = { maxWait: LONGEST_MS, timeout: LONGEST_MS }
    withLoan(loan, async () => (client as Callable).$transaction(work, options)).catch(reject)
  })
}
