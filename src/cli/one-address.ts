import { classifyError } from '../classify.ts'
import { ConnectError, describeAddress, destinationOf } from '../connect/open.ts'
import { LockUsageError } from '../core/errors.ts'
import { CliUsageError, exitCodes, type Call, type Outcome, type Terminal } from './command.ts'

/** The address that a command is about: the one that it is given, or that of the environment. */
export function oneAddress(command: string, { positionals, terminal }: Call): string {
  const [url, ...rest] = positionals
  if (rest.length > 0) throw new CliUsageError(`${command}: one address at a time`)
  return checkAddress(command, url ?? addressOfEnvironment(command, terminal))
}

/** An address that can be read. One that cannot is a command line that was not understood, and no missing database. */
export function checkAddress(command: string, url: string): string {
  try {
    destinationOf(url)
    return url
  } catch (error) {
    throw error instanceof ConnectError ? new CliUsageError(`${command}: ${error.message}`) : error
  }
}

/** The address in `DATABASE_URL`, where no shell's history has its password. Says where it leads. */
export function addressOfEnvironment(command: string, { progress }: Pick<Terminal, 'progress'>): string {
  const { DATABASE_URL: url = '' } = process.env
  if (url === '')
    throw new CliUsageError(`${command}: name the address of a database, or set DATABASE_URL to it`)
  progress(`${command}: DATABASE_URL is ${describeAddress(url)}\n`)
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
