import { describe, expect, test } from 'vitest'

import { categories, type Category } from '../../src/core/category.ts'
import { UnsupportedLockError } from '../../src/core/errors.ts'
import { sampleRequest } from '../../src/core/sample-request.ts'
import { isUnsupported } from '../../src/core/support.ts'
import type { Dialect } from '../../src/dialects/dialect.ts'
import { emit } from '../../src/emit.ts'
import { registry, type DialectName } from '../../src/registry.ts'

const target = { table: 'account', key: { id: 7 } }

/** As a caller without types would write it. */
function ask(category: string, request: unknown, dialect = 'postgres'): () => unknown {
  return () => emit(dialect as DialectName, category as Category, request as never)
}

describe('a request that contradicts itself names the field', () => {
  test.each<[string, string, unknown, string]>([
    ['an unknown category', 'row', {}, 'category'],
    ['a category named like an inherited property', 'toString', {}, 'category'],
    ['no request', 'row-exclusive', null, 'request'],
    ['skip with a timeout', 'skip-locked', { wait: { timeoutMs: 100 } }, 'wait'],
    ['skip that blocks', 'skip-locked', { wait: 'block' }, 'wait'],
    ['nowait with a timeout', 'nowait', { wait: { timeoutMs: 100 } }, 'wait'],
    ['a timeout without a time', 'lock-timeout', {}, 'wait'],
    ['an exclusive lock that is shared', 'row-exclusive', { mode: 'shared' }, 'mode'],
    ['an unknown mode', 'nowait', { mode: 'update' }, 'mode'],
    [
      'a shared lock with the strength of an exclusive one',
      'row-shared',
      { strength: 'no-key-update' },
      'strength',
    ],
    [
      'an exclusive lock with the strength of a shared one',
      'row-exclusive',
      { strength: 'key-share' },
      'strength',
    ],
    ['an unknown strength', 'row-exclusive', { strength: 'strong' }, 'strength'],
    ['a misspelt field', 'row-exclusive', { timeout: 100 }, 'timeout'],
    ['a misspelt field of wait', 'row-exclusive', { wait: { ms: 100 } }, 'wait.ms'],
    ['an unknown wait', 'row-exclusive', { wait: 'soon' }, 'wait'],
    ['a negative timeout', 'lock-timeout', { wait: { timeoutMs: -1 } }, 'wait.timeoutMs'],
    [
      'a timeout of zero, which means for ever on some engines',
      'lock-timeout',
      { wait: { timeoutMs: 0 } },
      'wait.timeoutMs',
    ],
    ['a timeout that is not a number', 'lock-timeout', { wait: { timeoutMs: Number.NaN } }, 'wait.timeoutMs'],
    ['a timeout that is text', 'lock-timeout', { wait: { timeoutMs: '100' } }, 'wait.timeoutMs'],
    ['a timeout of more than 32 bits', 'lock-timeout', { wait: { timeoutMs: 2 ** 31 } }, 'wait.timeoutMs'],
    ['an unknown isolation level', 'row-exclusive', { isolation: 'chaos' }, 'isolation'],
    ['a target without a key', 'row-exclusive', { target: { table: 'account', key: {} } }, 'target.key'],
    ['a target without a table', 'row-exclusive', { target: { table: '', key: { id: 7 } } }, 'target.table'],
    ['an empty qualified name', 'table', { table: [] }, 'table'],
    [
      'a key that equals no row',
      'row-exclusive',
      { target: { table: 'account', key: { id: null } } },
      'target.key.id',
    ],
    [
      'an empty list of keys',
      'row-exclusive',
      { target: { table: 'account', key: { id: [] } } },
      'target.key.id',
    ],
    ['a name with NUL', 'table', { table: 'acc\0unt' }, 'table'],
    ['a name with half a surrogate pair', 'row-exclusive', { of: ['\uD800'] }, 'of'],
    ['an advisory lock without a key', 'advisory', {}, 'key'],
    ['an advisory lock that skips', 'advisory', { key: 'k', wait: 'skip' }, 'wait'],
    ['an unknown scope', 'advisory', { key: 'k', scope: 'process' }, 'scope'],
    ['a lease without an owner', 'advisory', { key: 'k', lease: { owner: '', ttlMs: 5 } }, 'lease.owner'],
    ['a lease without a time', 'advisory', { key: 'k', lease: { owner: 'w', ttlMs: 0 } }, 'lease.ttlMs'],
    ['a table lock that skips', 'table', { table: 'account', wait: 'skip' }, 'wait'],
    ['a flag that is text', 'table', { table: 'account', exact: 'yes' }, 'exact'],
    [
      'readers kept out of a shared lock',
      'table',
      { table: 'account', mode: 'shared', blockReaders: true },
      'blockReaders',
    ],
  ])('%s', (_, category, request, field) => {
    expect(ask(category, request)).toThrow(
      expect.objectContaining({ name: 'LockUsageError', code: 'LOCK_USAGE', field }),
    )
  })

  test('an unknown dialect', () => {
    expect(ask('table', { table: 't' }, 'oracle')).toThrow(
      expect.objectContaining({
        field: 'dialect',
        message: expect.stringContaining('postgres, mysql, mariadb'),
      }),
    )
    expect(ask('table', { table: 't' }, '__proto__')).toThrow(expect.objectContaining({ field: 'dialect' }))
  })

  test('rows that an engine has to write, without a target', () => {
    expect(ask('row-exclusive', {}, 'duckdb')).toThrow(expect.objectContaining({ field: 'target' }))
    expect(ask('row-exclusive', {}, 'mongodb')).toThrow(expect.objectContaining({ field: 'target' }))
  })

  test('a session lock without lease terms, where it is a lease', () => {
    for (const dialect of ['sqlite', 'duckdb', 'mongodb']) {
      expect(ask('advisory', { key: 'k', scope: 'session' }, dialect)).toThrow(
        expect.objectContaining({ field: 'lease' }),
      )
    }
  })

  test('a raw name that the server would cut or refuse', () => {
    const key = { raw: 'name', name: 'x'.repeat(300) }
    for (const dialect of ['mysql', 'mariadb', 'mssql']) {
      expect(ask('advisory', { key }, dialect)).toThrow(expect.objectContaining({ field: 'key' }))
    }
  })
})

describe('a lock that an engine cannot give is refused with its declared reason', () => {
  const all: readonly Dialect[] = Object.values(registry)
  test.each(all.flatMap((dialect) => categories.map((category) => [dialect, category] as const)))(
    '$0.name $1',
    (dialect, category) => {
      const cell = dialect.cells[category]
      if (!isUnsupported(cell)) {
        expect(() => emit(dialect, category, sampleRequest[category])).not.toThrow()
        return
      }
      const { reason, instead } = cell as { reason: string; instead: string }
      expect(() => emit(dialect, category, sampleRequest[category])).toThrow(
        expect.objectContaining({
          name: 'UnsupportedLockError',
          dialect: dialect.name,
          category,
          reason,
          instead,
        }),
      )
    },
  )

  test('by whatever category a skip is asked', () => {
    const skipping = ask('row-exclusive', { target, wait: 'skip' }, 'sqlite')
    expect(skipping).toThrow(expect.objectContaining({ category: 'skip-locked' }))
  })

  test.each([
    ['postgres', '9.4'],
    ['mysql', '5.6.51'],
    ['mariadb', '5.5.5-10.2.44-MariaDB'],
    ['sqlite', '3.34.1'],
    ['duckdb', '0.10.2'],
    ['mssql', '2014'],
    ['mongodb', '4.2.1'],
  ] as const)('on %s %s, which is too old', (dialect, version) => {
    expect(() => emit({ dialect, version }, 'row-exclusive', { target })).toThrow(UnsupportedLockError)
  })

  test('when the exact lock is asked for and only another can be had', () => {
    expect(() => emit('sqlite', 'row-exclusive', { target, exact: true })).toThrow(
      expect.objectContaining({ name: 'UnsupportedLockError', instead: 'ask without exact' }),
    )
    expect(emit('postgres', 'row-exclusive', { target, exact: true }).support.level).toBe('native')
  })
})
