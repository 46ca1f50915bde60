import { exitCodes, type Command, type CommandOption } from '../../../src/cli/command.ts'
import { commands } from '../../../src/cli/commands.ts'
import { markdownTable } from '../../../src/conformance/reporters/markdown-text.ts'
import { findDriver } from '../../../src/connect/drivers.ts'
import { registry } from '../../../src/registry.ts'
import { code, prose, sentence } from '../markdown.ts'
import type { Generator } from '../place.ts'

/** All there is; or a part of it: `commands`, `exit-codes`, `addresses`, or one command, as in `cli verify`. */
export const cli: Generator = ([name, ...rest]) => {
  if (rest.length > 0) throw new Error('takes one command')
  if (name === undefined) return [list(), ...commands.map(section), exits()].join('\n\n')
  if (name === 'commands') return list()
  if (name === 'exit-codes') return exits()
  if (name === 'addresses') return addresses()
  const command = commands.find((one) => one.name === name)
  if (command === undefined)
    throw new Error(`${name} is not a command, and none of commands, exit-codes, addresses`)
  return body(command)
}

function list(): string {
  return markdownTable([
    ['command', 'what it does'],
    ...commands.map((command) => [code(callOf(command)), prose(command.summary)]),
  ])
}

/** What the addresses of each database look like, by the drivers that open them. */
function addresses(): string {
  const dialects = Object.values(registry)
  const drivers = new Set(dialects.map(({ name }) => findDriver(`${name}://`)))
  const rows = [...drivers].map(({ dialects: names, protocols, endings = [], example, scratchNeeds }) => [
    dialects
      .filter(({ name }) => names.includes(name))
      .map(({ title }) => title)
      .join(', '),
    code(example),
    [...protocols.map(code), ...endings.map((ending) => `files ending in ${code(ending)}`)].join(', '),
    prose(scratchNeeds),
  ])
  return markdownTable([['database', 'address', 'begins with', 'for `verify` needs'], ...rows])
}

function section(command: Command): string {
  return `### ${command.name}\n\n${body(command)}`
}

function body(command: Command): string {
  const options = Object.entries(command.options).map(([name, option]) => [
    code(optionCall(name, option)),
    `${prose(option.summary)}${option.multiple === true ? ' (may be given several times)' : ''}`,
  ])
  const table = options.length === 0 ? [] : [markdownTable([['option', 'meaning'], ...options])]
  const note = command.note === undefined ? [] : [prose(command.note)]
  return [code(callOf(command)), prose(sentence(command.summary)), ...note, ...table].join('\n\n')
}

function callOf({ name, parameters }: Command): string {
  return `holdfast ${name} ${parameters}`.trimEnd()
}

function optionCall(name: string, { short, value }: CommandOption): string {
  const long = value === undefined ? `--${name}` : `--${name} ${value}`
  return short === undefined ? long : `-${short}, ${long}`
}

const exitMeanings: Readonly<Record<keyof typeof exitCodes, string>> = {
  ok: 'nothing is wrong, or a watch was interrupted',
  failed:
    '`verify`: a law is broken. `doctor`: a lock protects nothing here, or a setting makes locks impossible. `race`: an order breaks, hangs, or nothing is known of an actor: it was not seen, or has always failed. `order`: locks are taken in opposite orders. `board`: it cannot listen there',
  usage: 'the command line, or an address, was not understood; the usage is on standard error',
  unreachable:
    'a database could not be reached, or does not let the command do what it needs. `race`: the file was loaded, but its `reset` failed, for instance',
  unwritten:
    'the report could not be written, for instance to a full disk; everything `verify` created is removed',
  hungUp: 'as `130`, by SIGHUP: the terminal was closed',
  interrupted: '`verify`, `doctor` and `race` were interrupted; everything they created is removed',
  closed: 'the reader of the output has closed it, as `head` does; everything the command created is removed',
  terminated: 'as `130`, by SIGTERM',
}

function exits(): string {
  const rows = Object.entries(exitMeanings).map(([name, meaning]) => [
    code(String(exitCodes[name as keyof typeof exitCodes])),
    prose(meaning),
  ])
  return markdownTable([['exit code', 'meaning'], ...rows])
}
