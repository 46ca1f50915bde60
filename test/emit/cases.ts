import type { Category } from '../../src/core/category.ts'
import { rawHashtextKey, rawInt32PairKey, rawInt64Key, rawNameKey } from '../../src/core/raw-key.ts'
import type { RequestOf } from '../../src/core/request.ts'

/** One lock request with a name. The golden files show what it becomes; the engines show that it means what it says. */
export interface Case<C extends Category = Category> {
  readonly title: string
  readonly category: C
  readonly request: RequestOf<C>
}

const one = { table: 'account', key: { id: 7 } } as const
const two = { table: 'account', key: { id: [7, 3] } } as const
const key = ['report', 7] as const
const lease = { owner: 'worker-1', ttlMs: 30_000 } as const

const rowCases: readonly Case[] = [
  { title: 'one row', category: 'row-exclusive', request: { target: one } },
  { title: 'two rows, in the order of their key', category: 'row-exclusive', request: { target: two } },
  { title: 'rows of a query of the caller', category: 'row-exclusive', request: {} },
  {
    title: 'without its key',
    category: 'row-exclusive',
    request: { target: one, strength: 'no-key-update' },
  },
  { title: 'one table of a join', category: 'row-exclusive', request: { target: one, of: ['account'] } },
  {
    title: 'and rows that do not exist',
    category: 'row-exclusive',
    request: { target: one, protectAbsence: true },
  },
  { title: 'one row', category: 'row-shared', request: { target: one } },
  { title: 'its key only', category: 'row-shared', request: { target: one, strength: 'key-share' } },
  { title: 'one row', category: 'skip-locked', request: { target: one } },
  { title: 'one row, shared', category: 'skip-locked', request: { target: one, mode: 'shared' } },
  {
    title: 'one row in a serializable transaction',
    category: 'skip-locked',
    request: { target: one, isolation: 'serializable' },
  },
  { title: 'one row', category: 'nowait', request: { target: one } },
  { title: 'one row, shared', category: 'nowait', request: { target: one, mode: 'shared' } },
  { title: 'two seconds', category: 'lock-timeout', request: { target: one, wait: { timeoutMs: 2000 } } },
  {
    title: '1.2 seconds, shared',
    category: 'lock-timeout',
    request: { target: one, mode: 'shared', wait: { timeoutMs: 1200 } },
  },
  { title: '300 ms', category: 'lock-timeout', request: { target: one, wait: { timeoutMs: 300 } } },
]

const advisoryCases: readonly Case[] = [
  { title: 'until the end of the transaction', category: 'advisory', request: { key } },
  { title: 'shared', category: 'advisory', request: { key, mode: 'shared' } },
  { title: 'try', category: 'advisory', request: { key, wait: 'nowait' } },
  { title: 'two seconds', category: 'advisory', request: { key, wait: { timeoutMs: 2000 } } },
  { title: '300 ms', category: 'advisory', request: { key, wait: { timeoutMs: 300 } } },
  { title: 'repeatable read', category: 'advisory', request: { key, isolation: 'repeatable read' } },
  {
    title: 'serializable',
    category: 'advisory',
    request: { key, isolation: 'serializable', wait: { timeoutMs: 2000 } },
  },
  { title: 'snapshot', category: 'advisory', request: { key, isolation: 'snapshot' } },
  { title: 'session', category: 'advisory', request: { key, scope: 'session', lease } },
  { title: 'session, try', category: 'advisory', request: { key, scope: 'session', wait: 'nowait', lease } },
  {
    title: 'session, shared, two seconds',
    category: 'advisory',
    request: { key, scope: 'session', mode: 'shared', wait: { timeoutMs: 2000 }, lease },
  },
  { title: 'a bigint of other code', category: 'advisory', request: { key: rawInt64Key(-42n) } },
  { title: 'two ints of other code', category: 'advisory', request: { key: rawInt32PairKey(1, -2) } },
  { title: 'hashtext of other code', category: 'advisory', request: { key: rawHashtextKey('user-7') } },
  { title: 'a name of other code', category: 'advisory', request: { key: rawNameKey("nightly's report") } },
]

const tableCases: readonly Case[] = [
  { title: 'exclusive', category: 'table', request: { table: 'account' } },
  { title: 'shared', category: 'table', request: { table: 'account', mode: 'shared' } },
  { title: 'do not wait', category: 'table', request: { table: 'account', wait: 'nowait' } },
  { title: 'two seconds', category: 'table', request: { table: 'account', wait: { timeoutMs: 2000 } } },
  { title: 'against readers too', category: 'table', request: { table: 'account', blockReaders: true } },
  {
    title: 'by other names too',
    category: 'table',
    request: { table: ['account'], aliases: ['a', 'odd`name'] },
  },
  {
    title: 'two seconds, where reads are as of the start',
    category: 'table',
    request: { table: 'account', wait: { timeoutMs: 2000 }, isolation: 'repeatable read' },
  },
  { title: 'at snapshot', category: 'table', request: { table: 'account', isolation: 'snapshot' } },
]

export const cases: readonly Case[] = [...rowCases, ...advisoryCases, ...tableCases]
