import { LockUsageError } from '../../core/errors.ts'
import type { Insides, QueryGenerator } from './instance.ts'

/** A SELECT as Sequelize's `findAll` is about to write it. */
export interface Select {
  readonly table: unknown
  readonly model: object
  /** Sequelize notes in them what the answer is made of. */
  readonly options: object
}

/** The text as it is sent. */
export function textOf({ dialect, options }: Insides, select: Select): string {
  if (options.dialectOptions?.prependSearchPath === true)
    throw otherText('prependSearchPath, which puts a statement before it')
  if (options.minifyAliases === true && 'include' in select.options)
    throw otherText('minifyAliases with include, which is put in later')
  return written(dialect.queryGenerator, select)
}

/** The text without its values, of which none can be taken for a part of the statement. */
export function shapeOf({ dialect }: Insides, select: Select): string {
  const own = dialect.queryGenerator
  const literal = dialect.canBackslashEscape() ? /^'(?:[^'\\]|\\[^]|'')*'$/ : /^'(?:[^']|'')*'$/
  const shaping = Object.create(own, {
    escape: {
      // what is not one literal, as a function or a text of the application's, stays to be looked at
      value: (...args: [unknown]) => {
        const text = own.escape.apply(shaping, args)
        return typeof text === 'string' && literal.test(text) ? "''" : text
      },
    },
  }) as QueryGenerator
  return written(shaping, select)
}

function written(generator: QueryGenerator, { table, options, model }: Select): string {
  return generator.selectQuery(table, options, model).replace(/;$/, '')
}

function otherText(why: string): LockUsageError {
  return new LockUsageError('query', `cannot be locked together with ${why}: lock the rows by { table, key }`)
}
