import { classifyError } from '../classify.ts'
import { ConnectError, describeAddress } from '../connect/open.ts'
import { LockUsageError } from '../core/errors.ts'
import { CliUsageError, exitCodes, type Outcome } from './command.ts'

/** The address that a command is about. */
export function oneAddress(command: string, [url, ...rest]: readonly string[]): string {
  if (url === undefined) throw new CliUsageError(`${command}: name the address of a database`)
  if (rest.length > 0) throw new CliUsageError(`${command}: one address at a time`)
  return url
}

/** How a command ends whose database cannot be reached, or no longer. What is anything else is thrown again. */
export function unreachable(command: string, url: string, error: unknown): Outcome {
  return { text: `${command}: ${reasonOf(url, error)}\n`, exitCode: exitCodes.unreachable }
}

function reasonOf(url: string, error: unknown): string {
  // first: an address that was never reached says so itself, and its cause is a connection that is not there, too
  if (error instanceof ConnectError || error instanceof LockUsageError) return error.message
  if (classifyError(error).kind === 'connection-lost')
    return `${describeAddress(url)} can no longer be reached`
  throw error
}
