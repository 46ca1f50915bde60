import type { Command, CommandOption } from './command.ts'

/** All commands, one line each. */
export function usageOf(commands: readonly Command[]): string {
  const lines = commands.map((command) => [callOf(command), command.summary] as const)
  return [
    'Usage:',
    ...table(lines),
    '',
    'holdfast help <command>, or holdfast <command> --help, shows the options of a command.',
    'holdfast --version shows the version of the package.',
    '',
  ].join('\n')
}

/** One command with its options. */
export function usageOfCommand(command: Command): string {
  const lines = Object.entries(command.options).map(
    ([name, option]) => [optionCall(name, option), option.summary] as const,
  )
  const options = lines.length === 0 ? [] : ['', 'Options:', ...table(lines)]
  const note = command.note === undefined ? [] : ['', command.note]
  return [`Usage: ${callOf(command)}`, '', command.summary, ...note, ...options, ''].join('\n')
}

function callOf({ name, parameters }: Command): string {
  return `holdfast ${name} ${parameters}`.trimEnd()
}

function optionCall(name: string, { short, value }: CommandOption): string {
  const long = value === undefined ? `--${name}` : `--${name} ${value}`
  return short === undefined ? long : `-${short}, ${long}`
}

function table(lines: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.max(...lines.map(([left]) => left.length))
  return lines.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)
}
