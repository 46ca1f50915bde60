import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'

import { commands } from '../../src/cli/commands.ts'
import { parserOptions } from '../../src/cli/command.ts'
import { root, type Fence } from './page.ts'

interface PackageFile {
  readonly name: string
  readonly scripts: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
}

const ours = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as PackageFile

/** The words of each command of a block, without comments. A command may go on behind a `\` at the end of its line. */
export function commandsIn(text: string): readonly (readonly string[])[] {
  return text
    .replaceAll(/\\\n\s*/g, ' ')
    .split(/\n|&&|;/)
    .map((line) => wordsIn(line.replace(/(?:^|\s)#.*$/, '')))
    .filter((words) => words.length > 0)
}

function wordsIn(line: string): readonly string[] {
  const words = line.match(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g) ?? []
  const bare = words.map((word) => word.replaceAll(/'([^']*)'|"([^"]*)"/g, '$1$2'))
  return bare.slice(bare.findIndex((word) => !/^\w+=/.test(word))) // behind variables that are set for it
}

/** What is wrong with the commands of a block: one that is not known, or an option that it does not have. */
export function checkShell({ text }: Fence): string | undefined {
  return commandsIn(text)
    .map(checkCommand)
    .find((problem) => problem !== undefined)
}

/** Whether all that the block says is a `holdfast` that speaks to no database. */
export function canRunShell({ text }: Fence): boolean {
  const all = commandsIn(text).map((words) => (words[0] === 'npx' ? words.slice(1) : words))
  const isOffline = ([program, name = '', ...args]: readonly string[]): boolean =>
    program === 'holdfast' &&
    (['explain', 'matrix', 'schema'].includes(name) ||
      [name, ...args].some((arg) => ['--help', '--list'].includes(arg)))
  return all.length > 0 && all.every(isOffline)
}

function checkCommand([program = '', ...args]: readonly string[]): string | undefined {
  if (program === 'npx') return args[0] === 'tsx' ? undefined : checkCommand(args)
  if (program === 'holdfast') return checkHoldfast(args)
  if (program === 'npm') return checkNpm(args)
  return `nothing knows whether \`${program}\` is right: say so, right before it: *Not run: <reason>.*`
}

/** By the table of options from which the program itself reads its command line. */
function checkHoldfast([name = '', ...args]: readonly string[]): string | undefined {
  if (['--help', '-h'].includes(name)) return undefined
  const command = commands.find((one) => one.name === name)
  if (command === undefined) return `holdfast has no command ${JSON.stringify(name)}`
  if (args.includes('--help')) return undefined
  try {
    parseArgs({ args: [...args], allowPositionals: true, options: parserOptions(command) })
    return undefined
  } catch (error) {
    return `holdfast ${name}: ${(error as Error).message}`
  }
}

/** What makes a folder a project; the tests of newcomers run it. */
const newProject = ['init -y', 'pkg set type=module', 'pkg set type=commonjs']

function checkNpm([verb = '', ...args]: readonly string[]): string | undefined {
  if (verb === 'ci' && args.length === 0) return undefined
  if (newProject.includes([verb, ...args].join(' '))) return undefined
  if (verb === 'test') return 'test' in ours.scripts ? undefined : 'there is no script `test`'
  if (verb === 'run')
    return args[0] !== undefined && args[0] in ours.scripts ? undefined : `no script \`${args[0]}\``
  if (verb !== 'install') return `nothing knows \`npm ${verb}\``
  const packages = args.filter((arg) => !arg.startsWith('-')).map((arg) => arg.replace(/(.)@.*$/, '$1'))
  const known = { [ours.name]: '', ...ours.devDependencies, ...ours.peerDependencies }
  const other = packages.find((name) => !(name in known))
  return other === undefined ? undefined : `\`npm install ${other}\`: a package that nothing here has used`
}
