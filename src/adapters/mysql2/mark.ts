import type { Row } from '../../core/statement.ts'

/**
 * With autocommit off the next statement begins another transaction, and the server says no more than that one is open. A
 * savepoint of the first one ends with it: it is set before what may end the transaction, and looked for behind it.
 */
export const setMark = 'SAVEPOINT holdfast_mark'
export const takeMark = 'RELEASE SAVEPOINT holdfast_mark'

const ER_SP_DOES_NOT_EXIST = 1305

/** Whether an error says that there is no such savepoint. */
export function isMarkGone(error: unknown): boolean {
  return (error as { readonly errno?: unknown } | null)?.errno === ER_SP_DOES_NOT_EXIST
}

/** For libraries that send their statements through a driver. */
export async function isMarkThere(send: (text: string) => Promise<readonly Row[]>): Promise<boolean> {
  try {
    await send(takeMark)
    return true
  } catch (error) {
    if (isMarkGone(error)) return false
    throw error
  }
}
