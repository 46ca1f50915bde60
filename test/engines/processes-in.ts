import { runCommand } from './run-command.ts'

/** The processes that have the folder in their command line; not the shells that look after it, which end last. */
export async function processesIn(folder: string): Promise<readonly string[]> {
  const lines = (await runCommand('ps', ['-eo', 'args'])).split('\n')
  return lines.filter((line) => line.includes(folder) && !line.includes('holdfast-guardian'))
}
