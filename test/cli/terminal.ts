import type { Outcome } from '../../src/cli/command.ts'
import { runCli } from '../../src/cli/run.ts'
import { programOf } from '../engines/program.ts'

/** What a command line has printed. */
export interface Printed extends Outcome {
  /** What was written while it ran, and then its last word. */
  readonly output: string
  readonly progress: string
}

/** The program, to be run in a process of its own. */
export function program(): Promise<string> {
  return programOf(new URL('../../src/cli/main.ts', import.meta.url))
}

/** Runs a command line in this process, on a screen that nobody watches. */
export async function cli(
  args: readonly string[],
  signal: AbortSignal = new AbortController().signal,
  onProgress: (text: string) => void = () => {},
): Promise<Printed> {
  let output = ''
  let progress = ''
  const outcome = await runCli(args, {
    write: (text) => void (output += text),
    progress: (text) => {
      progress += text
      onProgress(text)
    },
    isInteractive: false,
    isScreen: false,
    hasColour: false,
    columns: 100,
    signal,
  })
  return { ...outcome, output: output + outcome.text, progress }
}
