import type { Category } from '../core/category.ts'
import type { KeyPart } from '../core/key.ts'
import type { Isolation, LockMode, RequestOf, TableName, Wait } from '../core/request.ts'
import { sampleRequest } from '../core/sample-request.ts'
import { CliUsageError, type Call, type CommandOption } from './command.ts'

type OptionName = 'mode' | 'wait' | 'isolation' | 'exact' | 'scope' | 'key' | 'table' | 'id'

/** The options that say more about the lock. What they hold is checked where every request is. */
export const requestOptions: Readonly<Record<OptionName, CommandOption>> = {
  mode: { type: 'string', value: '<exclusive|shared>', summary: 'Whether the lock is exclusive or shared' },
  wait: {
    type: 'string',
    value: '<block|nowait|skip|ms>',
    summary: 'What to do while another caller holds the lock',
  },
  isolation: { type: 'string', value: '<level>', summary: 'The isolation level, such as "read committed"' },
  exact: { type: 'boolean', summary: 'Refuse a stronger or emulated lock too' },
  scope: { type: 'string', value: '<transaction|session>', summary: 'How long an advisory lock is held' },
  key: {
    type: 'string',
    value: '<a/b>',
    summary: 'The key of an advisory lock; a part made of digits is a number',
  },
  table: { type: 'string', value: '<table>', summary: 'The table; a dot separates schema and name' },
  id: { type: 'string', value: '<id>', summary: 'The value of the column id; digits are a number' },
}

const ofAll: readonly OptionName[] = ['isolation', 'exact']
const ofRows: readonly OptionName[] = [...ofAll, 'mode', 'wait', 'table', 'id']
const ofNames: readonly OptionName[] = [...ofAll, 'mode', 'wait', 'scope', 'key']
const ofTables: readonly OptionName[] = [...ofAll, 'mode', 'wait', 'table']

/** Refuses an option that says nothing about the category; without one, all that does not fit each of them. */
export function checkOptions(call: Call, category: Category | undefined): void {
  const known = optionsOf(category)
  for (const option of Object.keys(requestOptions) as OptionName[]) {
    if (known.includes(option) || (call.text(option) === undefined && !call.flag(option))) continue
    throw new CliUsageError(
      category === undefined
        ? `--${option}: name the category that it is for`
        : `--${option}: ${category} has none; it takes ${known.map((name) => `--${name}`).join(', ')}`,
    )
  }
}

function optionsOf(category: Category | undefined): readonly OptionName[] {
  if (category === undefined) return ofAll
  if (category === 'advisory') return ofNames
  return category === 'table' ? ofTables : ofRows
}

/** The plain request of a category, with what the command line says otherwise. */
export function requestOf<C extends Category>(call: Call, category: C): RequestOf<C>
export function requestOf(call: Call, category: Category): RequestOf<Category> {
  const shared = {
    ...(call.flag('exact') ? { exact: true } : {}),
    ...given(call, 'isolation', (text) => text as Isolation),
    ...given(call, 'mode', (text) => text as LockMode),
    ...given(call, 'wait', readWait),
  }
  if (category === 'advisory') return { ...sampleRequest.advisory, ...shared, ...namedPart(call) }
  if (category === 'table') {
    return { ...sampleRequest.table, ...shared, ...given(call, 'table', readTable) }
  }
  const { target } = sampleRequest[category]
  const table = call.text('table')
  const id = call.text('id')
  return {
    ...sampleRequest[category],
    ...shared,
    target: {
      table: table === undefined ? (target?.table ?? '') : readTable(table),
      key: id === undefined ? (target?.key ?? {}) : { id: readNumber(id) },
    },
  }
}

/** A session's lock is a lease on some engines: any owner will do to show it. */
function namedPart(call: Call): object {
  return {
    ...given(call, 'key', readKey),
    ...given(call, 'scope', (scope) => scope),
    ...(call.text('scope') === 'session' ? { lease: { owner: 'owner', ttlMs: 30_000 } } : {}),
  }
}

function given<N extends OptionName, T>(
  call: Call,
  option: N,
  read: (text: string) => T,
): { readonly [K in N]?: T } {
  const text = call.text(option)
  return text === undefined ? {} : ({ [option]: read(text) } as { readonly [K in N]: T })
}

function readWait(text: string): Wait {
  if (/^\d+$/.test(text)) return { timeoutMs: Number(text) }
  if (text === 'block' || text === 'nowait' || text === 'skip') return text
  throw new CliUsageError(
    `--wait: ${JSON.stringify(text)} is none of block, nowait, skip and a number of milliseconds, as in 500`,
  )
}

function readTable(text: string): TableName {
  const parts = text.split('.')
  return parts.length === 1 ? text : parts
}

function readKey(text: string): readonly KeyPart[] {
  return text.split('/').map(readNumber)
}

function readNumber(text: string): KeyPart {
  if (!/^-?\d+$/.test(text)) return text
  const value = Number(text)
  return Number.isSafeInteger(value) ? value : BigInt(text)
}
