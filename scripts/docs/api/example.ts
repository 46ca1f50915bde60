import { databasesIn } from '../generators/adapters.ts'
import type { PublicThing } from './public-api.ts'
import { textOf } from './source-file.ts'

/** Where an example runs: in the database that needs no server. What opens one by itself runs in that. */
const quick = ['sqlite']
const own = ['postgres', 'sqlite']

/**
 * The program of an `@example` as a block that runs.
 *
 * The comment stands where the reader has imported the thing already; here it is imported. `locks` is that of `./db.ts`.
 */
export function exampleFence(program: string, thing: PublicThing): string {
  const { name, entries, node } = thing
  const usesLocks = /\blocks\b/.test(program) && !/\bconst locks\b/.test(program)
  const isCall = node.type === 'TSInterfaceDeclaration'
  const imports = [
    ...(isCall ? [] : [`import { ${name} } from '${entries[0]}'`]),
    ...(usesLocks ? ["import { locks } from './db.ts'"] : []),
  ]
  const gap = program.startsWith('import ') ? [] : ['']
  return [ticks(usesLocks ? quick : ownDatabases(program, thing)), ...imports, ...gap, program, '```'].join(
    '\n',
  )
}

function ticks(words: readonly string[]): string {
  return ['```ts example', ...words].join(' ')
}

/** Those of the adapter, where the program opens one by itself. */
function ownDatabases(program: string, { file }: PublicThing): readonly string[] {
  if (!program.includes('DATABASE_URL')) return []
  const text = textOf(file, { start: 0, end: Infinity })
  const databases = databasesIn({ path: file, text }).map((dialect) => dialect.name)
  return own.filter((one) => databases.includes(one))
}
