import { isSql, type Statement } from '../core/statement.ts'
import type { Dialect } from '../dialects/dialect.ts'
import { ownTables } from '../dialects/own-tables.ts'
import { registry, type DialectName } from '../registry.ts'
import { CliUsageError, type Command } from './command.ts'

/** Prints the statements that make all tables or collections which Holdfast would otherwise make on demand. */
export const schema: Command = {
  name: 'schema',
  parameters: '<dialect>',
  summary: `Print the migration that creates Holdfast's tables: ${Object.keys(registry).join(', ')}`,
  options: {},
  run: async ({ positionals }) => ({ text: await migration(dialectIn(positionals)), exitCode: 0 }),
}

function dialectIn([name, ...rest]: readonly string[]): Dialect {
  if (name === undefined) throw new CliUsageError('schema: name a dialect')
  if (rest.length > 0) throw new CliUsageError(`schema: one dialect at a time, and no ${rest.join(' ')}`)
  if (!isDialectName(name)) throw new CliUsageError(`schema: ${JSON.stringify(name)} is not a dialect`)
  return registry[name]
}

function isDialectName(name: string): name is DialectName {
  return Object.hasOwn(registry, name)
}

/** One statement on each line, so that a script can tell them apart. */
async function migration(dialect: Dialect): Promise<string> {
  const statements = await ownTables(dialect)
  const isText = statements.every(isSql)
  const comment = `${isText ? '--' : '//'} Holdfast's tables in ${dialect.title}; safe to run again.`
  return [comment, ...statements.map(line)].map((text) => `${text}\n`).join('')
}

/** SQL, or a command of the database's shell. */
function line(statement: Statement): string {
  return isSql(statement) ? `${statement.sql};` : `db.runCommand(${JSON.stringify(statement.command)});`
}
