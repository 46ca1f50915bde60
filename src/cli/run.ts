import { holdfastVersion } from '../conformance/version.ts'
import { parseCall } from './call.ts'
import { CliUsageError, exitCodes, type Command, type Outcome, type Terminal } from './command.ts'
import { commands } from './commands.ts'
import { didYouMean } from './nearest.ts'
import { usageOf, usageOfCommand } from './usage.ts'
import { withoutLogins } from './without-logins.ts'

/**
 * Does what a command line asks for, without the name of the program. Whoever puts an address in the wrong place sees it
 * without its password, wherever it turns up.
 */
export async function runCli(args: readonly string[], terminal: Terminal): Promise<Outcome> {
  const clean = withoutLogins(args)
  const outcome = await run(args, {
    ...terminal,
    write: (text) => terminal.write(clean(text)),
    progress: (text) => terminal.progress(clean(text)),
  })
  const { text, exitCode } = outcome
  return { text: exitCode === exitCodes.ok ? clean(text) : withoutLogins(args, true)(text), exitCode }
}

async function run(args: readonly string[], terminal: Terminal): Promise<Outcome> {
  const [first] = args
  if (first === '--version' || first === '-v') return { text: `${holdfastVersion}\n`, exitCode: exitCodes.ok }
  const isHelp = first === 'help' || args.includes('--help') || args.includes('-h')
  const [name, ...rest] = first === 'help' ? args.slice(1) : args
  const command = commands.find((one) => one.name === name)
  const usage = command === undefined ? usageOf(commands) : usageOfCommand(command)
  try {
    if (isHelp && (command !== undefined || !isWord(name))) return { text: usage, exitCode: exitCodes.ok }
    if (command === undefined) throw new CliUsageError(unknownCommand(name))
    return await command.run(parseCall(command, rest, terminal))
  } catch (error) {
    if (!isUsageError(error)) throw error
    const message = unknownOption(error.message, command) ?? error.message
    return { text: `${message}\n\n${usage}`, exitCode: exitCodes.usage }
  }
}

/** Whether it is there, and no option. */
function isWord(text: string | undefined): boolean {
  return text !== undefined && !text.startsWith('-')
}

function unknownCommand(name: string | undefined): string {
  return name === undefined
    ? 'holdfast: name a command'
    : `holdfast: ${JSON.stringify(name)} is not a command${didYouMean(
        name,
        commands.map((one) => one.name),
      )}`
}

/** What Node's parser says of an option that it does not know, in fewer words. */
function unknownOption(message: string, command: Command | undefined): string | undefined {
  const [, option = ''] = /^Unknown option '(-[^'\s]*)/.exec(message) ?? []
  if (option === '' || command === undefined) return undefined
  const known = Object.keys(command.options).map((name) => `--${name}`)
  return `${command.name}: ${option} is not an option${didYouMean(option, [...known, '--help'])}`
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
