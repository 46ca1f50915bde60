/** What a command has to say, and how the process ends. Text of a failure goes to standard error. */
export interface Outcome {
  readonly text: string
  readonly exitCode: number
}

/** One word behind `holdfast`: each is a file of this folder, and listed in run.ts. */
export interface Command {
  readonly name: string
  /** What stands behind the name, such as `<dialect>`. */
  readonly parameters: string
  /** One line for the list of commands. */
  readonly summary: string
  /** Is given what stands behind the command's name. Throws {@link CliUsageError} when that is wrong. */
  readonly run: (args: readonly string[]) => Outcome | Promise<Outcome>
}

/** The command line is wrong: the message says what, and the usage is shown. */
export class CliUsageError extends Error {
  override readonly name = 'CliUsageError'
}
