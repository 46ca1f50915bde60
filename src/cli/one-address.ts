import { classifyError } from '../classify.ts'
import { ConnectError } from '../connect/open.ts'
import { LockUsageError } from '../core/errors.ts'
import { CliUsageError, exitCodes, type Outcome } from './command.ts'

/** The address that a command is about. */
export function oneAddress(command: string, [url, ...rest]: readonly string[]): string {
  if (url === undefined) throw new CliUsageError(`${command}: name the address of a database`)
  if (rest.length > 0) throw new CliUsageError(`${command}: one address at a time`)
  return url
}

/** How a command ends whose database cannot be reached, or no longer. What is anything else is thrown again. */
export function unreachable(command: string, error: unknown): Outcome {
  const isLost = classifyError(error).kind === 'connection-lost'
  if (!isLost && !(error instanceof ConnectError) && !(error instanceof LockUsageError)) throw error
  const what = isLost ? 'the database can no longer be reached' : (error as Error).message
  return { text: `${command}: ${what}\n`, exitCode: exitCodes.unreachable }
}
