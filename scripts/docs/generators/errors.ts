import { markdownTable } from '../../../src/conformance/reporters/markdown-text.ts'
import {
  errorKinds,
  isRetryable,
  type ErrorKind,
  type TransactionState,
} from '../../../src/core/error-kind.ts'
import type { ErrorTable } from '../../../src/core/classification.ts'
import { registry } from '../../../src/registry.ts'
import { code, prose } from '../markdown.ts'
import { noArguments, type Generator } from '../place.ts'
import { classesIn } from '../syntax.ts'

/** All error classes with their codes, and what every dialect's own codes mean. */
export const errors: Generator = async (args) => {
  const [part = 'all', ...rest] = args
  noArguments(rest)
  if (part === 'classes') return classes()
  if (part === 'codes') return codes()
  if (part !== 'all') throw new Error(`${part} is neither classes nor codes`)
  return `${await classes()}\n\n${codes()}`
}

async function classes(): Promise<string> {
  const declared = await classesIn('src/core/errors.ts')
  const rows = declared
    .filter(({ fields }) => fields.has('name'))
    .map(({ name, says, fields }) => [
      code(name),
      code(fields.get('code') ?? ''),
      fields.get('isRetryable') === 'true' ? 'yes' : 'no',
      prose(says.split('\n\n')[0]?.replaceAll('\n', ' ') ?? ''),
      [...fields.keys()]
        .filter((field) => !['name', 'code', 'isRetryable'].includes(field))
        .map(code)
        .join(', '),
    ])
  return markdownTable([['class', '`code`', '`isRetryable`', 'what it says', 'also has'], ...rows])
}

function codes(): string {
  return tablesOfErrors()
    .map(({ titles, table }) => `**${titles.join(', ')}**\n\n${codeTable(table)}`)
    .join('\n\n')
}

/** Dialects that share a table are shown once. */
function tablesOfErrors(): readonly { readonly titles: readonly string[]; readonly table: ErrorTable }[] {
  const dialects = Object.values(registry)
  const tables = [...new Set(dialects.map((dialect) => dialect.errors))]
  return tables.map((table) => ({
    table,
    titles: dialects.filter((dialect) => dialect.errors === table).map(({ title }) => title),
  }))
}

interface Meaning {
  readonly kind: ErrorKind
  readonly transaction: TransactionState
  readonly keys: readonly string[]
}

function codeTable({ codes: table, otherwise }: ErrorTable): string {
  const rows = meaningsIn(table).map(({ kind, transaction, keys }) => [
    code(kind),
    keys.map(code).join(', '),
    code(transaction),
    retried(kind),
  ])
  const rest = [code('other'), 'any other', code(otherwise), 'no']
  return markdownTable([['kind', 'codes', 'the transaction is then', 'retried'], ...rows, rest])
}

function retried(kind: ErrorKind): string {
  if (kind === 'connection-lost') return 'before COMMIT is sent'
  return isRetryable(kind) ? 'yes' : 'no'
}

function meaningsIn(table: ErrorTable['codes']): readonly Meaning[] {
  const found = new Map<string, Meaning>()
  for (const [key, { kind, transaction }] of Object.entries(table)) {
    const name = `${kind} ${transaction}`
    found.set(name, { kind, transaction, keys: [...(found.get(name)?.keys ?? []), key] })
  }
  return [...found.values()].toSorted((a, b) => errorKinds.indexOf(a.kind) - errorKinds.indexOf(b.kind))
}
