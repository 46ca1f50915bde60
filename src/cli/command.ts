import type { ParseArgsConfig } from 'node:util'

/** How the process ends. Text of a failure goes to standard error. */
export interface Outcome {
  readonly text: string
  readonly exitCode: number
}

/**
 * What a command ends the process with.
 *
 * `failed`: it looked, and something is not as it should be. `usage`: the command line was not understood.
 * `unreachable`: a database could not be reached, or did not let the command do what it needs. `unwritten`: what it has to
 * say could not be written. `interrupted`, `hungUp` and `terminated` by a signal, and `closed` by whoever read the output:
 * as shells say it.
 */
export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  unreachable: 3,
  unwritten: 4,
  hungUp: 129,
  interrupted: 130,
  closed: 141,
  terminated: 143,
} as const

/** One word behind `holdfast`: each is a file of this folder, and listed in commands.ts. */
export interface Command {
  readonly name: string
  /** What stands behind the name, such as `<dialect>`. */
  readonly parameters: string
  /** One line for the list of commands. */
  readonly summary: string
  /** What users have to know before they run it. */
  readonly note?: string
  readonly options: Readonly<Record<string, CommandOption>>
  /** Throws {@link CliUsageError} when what stands behind its name is wrong. */
  readonly run: (call: Call) => Outcome | Promise<Outcome>
}

/** One option as the parser, `--help` and the documentation read it. */
export interface CommandOption {
  readonly type: 'string' | 'boolean'
  readonly short?: string
  /** May be given several times. */
  readonly multiple?: boolean
  /** What stands behind a `string` option, such as `<ms>`. */
  readonly value?: string
  readonly summary: string
}

/** A command line that was parsed, and where the command speaks to. */
export interface Call {
  readonly positionals: readonly string[]
  /** The text of an option; undefined when it was left out. The last one counts. */
  readonly text: (option: string) => string | undefined
  readonly texts: (option: string) => readonly string[]
  readonly flag: (option: string) => boolean
  /** A whole number from `least` up. */
  readonly number: (option: string, least?: number) => number | undefined
  readonly terminal: Terminal
}

/** Where a command that takes long says how far it is. */
export interface Terminal {
  /** To standard output, at once. */
  readonly write: (text: string) => void
  /** To standard error, at once: progress, which must not mix with a report. */
  readonly progress: (text: string) => void
  /** Whether people read the progress as it comes, on a screen whose lines can be written over. */
  readonly isInteractive: boolean
  /** The same of standard output. */
  readonly isScreen: boolean
  readonly hasColour: boolean
  readonly columns: number
  /** Aborts when the user interrupts the program. */
  readonly signal: AbortSignal
}

/** The command line is wrong: the message says what, and the usage is shown. */
export class CliUsageError extends Error {
  override readonly name = 'CliUsageError'
}

/** The options as Node's parser takes them. */
export function parserOptions({ options }: Command): NonNullable<ParseArgsConfig['options']> {
  return Object.fromEntries(
    Object.entries(options).map(([name, { type, short, multiple = false }]) => [
      name,
      short === undefined ? { type, multiple } : { type, short, multiple },
    ]),
  )
}
