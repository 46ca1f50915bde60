import { CliUsageError, type Command, type Outcome } from './command.ts'
import { schema } from './schema.ts'

const commands: readonly Command[] = [schema]

/** Does what a command line asks for, without the name of the program. Exit code 2: it was not understood. */
export async function runCli(args: readonly string[]): Promise<Outcome> {
  const [name, ...rest] = args
  if (args.includes('--help') || args.includes('-h')) return { text: usage(), exitCode: 0 }
  try {
    return await commandNamed(name).run(rest)
  } catch (error) {
    if (!isUsageError(error)) throw error
    return { text: `${error.message}\n\n${usage()}`, exitCode: 2 }
  }
}

function commandNamed(name: string | undefined): Command {
  const command = commands.find((one) => one.name === name)
  if (command !== undefined) return command
  throw new CliUsageError(
    name === undefined ? 'holdfast: name a command' : `holdfast: ${JSON.stringify(name)} is no command`,
  )
}

/** Ours, or that of Node's parser, which says which option it does not know. */
function isUsageError(error: unknown): error is Error {
  if (error instanceof CliUsageError) return true
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    error.code.startsWith('ERR_PARSE_ARGS_')
  )
}

function usage(): string {
  const lines = commands.map((command) => [`holdfast ${command.name} ${command.parameters}`, command.summary])
  const width = Math.max(...lines.map(([call = '']) => call.length))
  return ['Usage:', ...lines.map(([call = '', summary]) => `  ${call.padEnd(width)}  ${summary}`), ''].join(
    '\n',
  )
}
