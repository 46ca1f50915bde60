import { LockUsageError } from '../../core/errors.ts'

/** How a transaction is asked for, in the words that such clients share. */
export interface ForgeBegin {
  readonly isolationLevel?: string
  /** How long a connection is waited for. */
  readonly maxWait: number
  /** After how long the client ends the transaction. */
  readonly timeout: number
}

/** What is used of a client that runs transactions by callback, and raw statements. */
export interface ForgeClient {
  // the typings of a generated client say much more about it
  $transaction: unknown
}

/** The object that the client gives to the work of a transaction. */
export type TransactionOf<Client extends ForgeClient> = Client['$transaction'] extends (
  work: (tx: infer Tx) => never,
  ...rest: never[]
) => unknown
  ? Tx & object
  : never

interface Callable {
  $transaction(work: (tx: object) => Promise<void>, options: ForgeBegin): Promise<unknown>
}

/** A transaction of the client's that is under way, for as long as its callback does not return. */
export interface HeldTransaction {
  readonly tx: object
  /** Lets the client commit. Rejects with what it makes of that. */
  readonly commit: () => Promise<void>
  /** Lets the client roll back. */
  readonly rollback: () => Promise<void>
}

/** What the callback throws when the transaction is to be rolled back: it says nothing, and comes back to us only. */
class GivenUp extends Error {
  override readonly name = 'GivenUp'

  constructor() {
    super('the transaction is rolled back')
  }
}

/** Has the client begin a transaction, and keeps its callback from returning until the transaction is to end. */
export function held(client: object, options: ForgeBegin): Promise<HeldTransaction> {
  return new Promise((resolve, reject) => {
    let isCalled = false
    const work = (tx: object): Promise<void> => {
      if (isCalled) return Promise.reject(repeats())
      isCalled = true
      return new Promise((end, fail) => {
        resolve({
          tx,
          commit: async () => {
            end()
            await loan
          },
          rollback: async () => {
            const why = new GivenUp()
            fail(why)
            await loan.catch((error: unknown) => {
              if (!isOurs(error, why)) throw error
            })
          },
        })
      })
    }
    const loan = (async () => (client as Callable).$transaction(work, options))()
    // once it has begun, whoever ends it hears of it
    loan.catch(reject)
  })
}

/** A client may put its own error around what the callback has thrown. */
function isOurs(error: unknown, why: GivenUp): boolean {
  return error === why || (error as { readonly cause?: unknown } | undefined)?.cause === why
}

function repeats(): LockUsageError {
  return new LockUsageError(
    'client',
    'has called the work of a transaction twice: leave its own retries out, Holdfast repeats transactions itself',
  )
}
