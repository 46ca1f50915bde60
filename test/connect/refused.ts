import { inspect } from 'node:util'

import { expect } from 'vitest'

import { ConnectError, type ConnectFailure } from '../../src/connect/connect-error.ts'

/** The error with which something is refused. Fails when it is not refused, or in another way. */
export async function refused(failure: ConnectFailure, work: Promise<unknown>): Promise<ConnectError> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof ConnectError)) throw new Error(`not refused: ${inspect(error)}`)
  expect(error.failure, error.message).toBe(failure)
  return error
}

/** All that anybody could print of an error. */
export function allTextOf(error: Error): string {
  return [
    error.message,
    error.stack,
    String(error),
    JSON.stringify(error),
    inspect(error, { depth: 10, showHidden: true, maxStringLength: null }),
  ].join('\n')
}
