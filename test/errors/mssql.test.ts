import { createRequire } from 'node:module'

import mssql from 'mssql'
import { describe, expect, test } from 'vitest'

import { classifyError } from '../../src/classify.ts'
import type { ErrorKind, TransactionState } from '../../src/core/error-kind.ts'
import { registry } from '../../src/registry.ts'

// tedious does not export its error classes
const { RequestError, ConnectionError } = createRequire(import.meta.url)('tedious/lib/errors') as {
  readonly RequestError: new (message: string, code?: string, options?: ErrorOptions) => Error
  readonly ConnectionError: new (message: string, code?: string, options?: ErrorOptions) => Error
}

/** What the server sends with an error. */
interface Token {
  readonly number: number
  readonly class?: number
}

const details = { state: 1, class: 16, serverName: 'server', procName: '', lineNumber: 1 }

/** As tedious 19 makes it of the server's token. */
function tediousError(token: Token): Error {
  return Object.assign(new RequestError('refused', 'EREQUEST'), details, token)
}

/** As mssql 12 makes it of the same token. */
function mssqlError(token: Token): Error {
  const info = { ...details, ...token }
  return new mssql.RequestError(Object.assign(new Error('refused'), { info }), 'EREQUEST')
}

const numbers = Object.entries(registry.mssql.errors.codes).filter(([key]) => /^\d+$/.test(key))

describe('SQL Server’s numbers, in errors made with the classes of mssql and tedious, not by a server', () => {
  test.each(numbers)('%s is what the table says', (key, meaning) => {
    const token = { number: Number(key) }
    for (const error of [tediousError(token), mssqlError(token)]) {
      expect(classifyError(error)).toMatchObject({ ...meaning, dialect: 'mssql', code: key })
    }
  })

  test.each<[number, ErrorKind, TransactionState]>([
    [1205, 'deadlock', 'rolled-back'],
    [1222, 'lock-timeout', 'open'],
    [3960, 'serialization', 'rolled-back'],
    [41_302, 'write-conflict', 'rolled-back'],
    [1204, 'too-many-locks', 'unknown'],
    [2627, 'unique-violation', 'open'],
    [40_613, 'connection-lost', 'unknown'],
    [650, 'other', 'open'],
    [266, 'other', 'open'],
  ])('%i is %s and leaves the transaction %s', (number, kind, transaction) => {
    expect(classifyError(mssqlError({ number }))).toMatchObject({ kind, transaction, code: String(number) })
  })

  test('an error of severity 20 ends the connection, whatever its number', () => {
    for (const error of [tediousError({ number: 596, class: 21 }), mssqlError({ number: 596, class: 21 })]) {
      expect(classifyError(error)).toMatchObject({ kind: 'connection-lost', transaction: 'unknown' })
    }
    expect(classifyError(mssqlError({ number: 1205, class: 21 })).kind).toBe('deadlock')
  })

  test('of several errors in one batch the one that says something counts', () => {
    const last = Object.assign(mssqlError({ number: 3998 }), {
      precedingErrors: [mssqlError({ number: 3960 })],
    })
    expect(classifyError(last)).toMatchObject({ kind: 'serialization', code: '3960' })
    const several = new AggregateError([tediousError({ number: 1205 }), tediousError({ number: 3902 })])
    expect(classifyError(several)).toMatchObject({ kind: 'deadlock', code: '1205' })
  })
})

describe('the drivers’ own codes, in errors made with the classes of mssql and tedious', () => {
  test.each(['ESOCKET', 'ECLOSE', 'ECONNCLOSED', 'ENOTOPEN', 'ETIMEOUT'])(
    '%s while connecting: connection-lost',
    (code) => {
      const cause = Object.assign(new Error('read ECONNRESET'), {
        code: 'ECONNRESET',
        syscall: 'read',
        errno: -104,
      })
      const inner = new ConnectionError('lost', code, { cause })
      for (const error of [inner, new mssql.ConnectionError(inner)]) {
        expect(classifyError(error)).toMatchObject({
          kind: 'connection-lost',
          transaction: 'unknown',
          dialect: 'mssql',
          code,
        })
      }
    },
  )

  test.each(['ETIMEOUT', 'ECANCEL'])(
    '%s of a request: cancelled, and nobody knows what the server has done',
    (code) => {
      const inner = new RequestError('gave up', code)
      for (const error of [inner, new mssql.RequestError(inner)]) {
        expect(classifyError(error)).toMatchObject({
          kind: 'cancelled',
          transaction: 'unknown',
          dialect: 'mssql',
          code,
        })
      }
    },
  )

  test('EABORT: the transaction is gone, and why is in the error inside', () => {
    const aborted = new mssql.TransactionError('Transaction has been aborted.', 'EABORT')
    expect(classifyError(aborted)).toMatchObject({
      kind: 'other',
      transaction: 'rolled-back',
      code: 'EABORT',
    })
    const why = Object.assign(new mssql.TransactionError('Transaction has been aborted.', 'EABORT'), {
      originalError: mssqlError({ number: 1205 }),
    })
    expect(classifyError(why)).toMatchObject({ kind: 'deadlock', transaction: 'rolled-back', code: '1205' })
  })

  test('every code of the drivers in the table is one of those', () => {
    const own = Object.keys(registry.mssql.errors.codes).filter((key) => /^E[A-Z]/.test(key))
    const tested = [
      'ESOCKET',
      'ECLOSE',
      'ECONNCLOSED',
      'ENOTOPEN',
      'ETIMEOUT',
      'ETIMEOUT / ConnectionError',
      'ECANCEL',
      'EABORT',
    ]
    expect(own.toSorted()).toEqual(tested.toSorted())
  })
})
