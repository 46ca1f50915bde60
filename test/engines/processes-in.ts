import { runCommand } from './run-command.ts'

/** The command lines of the processes of PostgreSQL that have the folder in theirs. */
export async function processesIn(folder: string): Promise<readonly string[]> {
  const lines = (await runCommand('ps', ['-eo', 'args'])).split('\n')
  return lines.filter((line) => line.includes(folder) && line.includes('postgres'))
}
