import { describe, expect, test } from 'vitest'

import { classifyError } from '../../src/classify.ts'
import {
  CommitOutcomeUnknownError,
  LockLostError,
  LockNotAvailableError,
  LockTimeoutError,
  LockUsageError,
  RetryableTransactionError,
} from '../../src/core/errors.ts'
import { retryableKinds } from '../../src/core/error-kind.ts'
import { registry } from '../../src/registry.ts'

const make = (fields: object, message = 'failed'): Error => Object.assign(new Error(message), fields)
const postgresDeadlock = make({ code: '40P01', severity: 'ERROR', routine: 'DeadLockReport' })
const mysqlDeadlock = make({
  code: 'ER_LOCK_DEADLOCK',
  errno: 1213,
  sqlState: '40001',
  sqlMessage: 'Deadlock',
})
const reset = make({ code: 'ECONNRESET', errno: -104, syscall: 'read' })

describe('an error is taken for its own dialect’s and no other’s', () => {
  test('SQLSTATE 40001 of MySQL is not PostgreSQL’s', () => {
    expect(classifyError(mysqlDeadlock)).toMatchObject({ kind: 'deadlock', dialect: 'mysql', code: '1213' })
  })

  test('a told dialect is asked alone', () => {
    expect(classifyError(mysqlDeadlock, { dialect: 'mariadb' })).toMatchObject({
      kind: 'deadlock',
      dialect: 'mariadb',
    })
    expect(classifyError(mysqlDeadlock, { dialect: 'sqlite' })).toMatchObject({
      kind: 'other',
      dialect: 'sqlite',
    })
    expect(classifyError(postgresDeadlock, { dialect: registry.postgres })).toMatchObject({
      kind: 'deadlock',
    })
  })

  test('a dialect that nobody knows is as good as none', () => {
    const options = JSON.parse('{ "dialect": "toString" }') as { dialect: 'postgres' }
    expect(classifyError(postgresDeadlock, options)).toMatchObject({ kind: 'deadlock', dialect: 'postgres' })
  })

  test('a broken socket is a lost connection of no dialect, or of the one that was told', () => {
    for (const code of ['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ECONNREFUSED']) {
      const error = make({ code, errno: -1, syscall: 'read' })
      expect(classifyError(error)).toMatchObject({ kind: 'connection-lost', transaction: 'unknown', code })
      expect(classifyError(error).dialect).toBeUndefined()
      for (const dialect of Object.keys(registry) as (keyof typeof registry)[]) {
        expect(classifyError(error, { dialect }), dialect).toMatchObject({ kind: 'connection-lost', dialect })
      }
    }
  })

  test('a code alone proves nothing', () => {
    for (const code of ['40001', '40P01', '1213', 1213, 1205, 5, 11_000, 'ENOENT', 'ESOCKET', 'ETIMEOUT']) {
      expect(classifyError(make({ code })), String(code)).toMatchObject({
        kind: 'other',
        transaction: 'open',
      })
    }
  })

  test('SQL Server’s 1205 is a deadlock, MySQL’s is a timeout', () => {
    expect(classifyError(make({ code: 'EREQUEST', number: 1205, class: 13 })).kind).toBe('deadlock')
    expect(classifyError(make({ errno: 1205, sqlState: 'HY000' })).kind).toBe('lock-timeout')
  })

  test('an error that only speaks like a database is the caller’s own', () => {
    const own = new Error('deadlock detected: Conflict on update! UNIQUE constraint failed')
    expect(classifyError(own)).toEqual({
      kind: 'other',
      retryable: false,
      transaction: 'open',
      original: own,
    })
  })
})

describe('drivers that are not used here, by the shapes that they document', () => {
  test('node:sqlite gives the number of the code', () => {
    const busy = make({ code: 'ERR_SQLITE_ERROR', errcode: 5, errstr: 'database is locked' })
    expect(classifyError(busy)).toMatchObject({ kind: 'busy', dialect: 'sqlite', code: 'SQLITE_BUSY' })
    const stale = make({ code: 'ERR_SQLITE_ERROR', errcode: 517 })
    expect(classifyError(stale)).toMatchObject({ kind: 'serialization', code: 'SQLITE_BUSY_SNAPSHOT' })
    const disk = make({ code: 'ERR_SQLITE_ERROR', errcode: 778 })
    expect(classifyError(disk)).toMatchObject({ kind: 'other', transaction: 'unknown', code: 'SQLITE_IOERR' })
    const other = make({ code: 'ERR_SQLITE_ERROR', errcode: 1299 })
    expect(classifyError(other)).toMatchObject({ kind: 'other', transaction: 'open', code: 'SQLITE_1299' })
  })

  test('a COMMIT that waits in a group while its server leaves that may be stored, and other statements are not', () => {
    const hook = (name: string): Error =>
      make({ errno: 3100, sqlState: 'HY000' }, `Error on observer while running replication hook '${name}'.`)
    expect(classifyError(hook('before_commit'))).toMatchObject({ kind: 'commit-unknown', retryable: false })
    expect(classifyError(hook('before_dml'))).toMatchObject({ kind: 'other', retryable: false })
  })

  test('Group Replication refuses a commit with the number of the storage engine’s error', () => {
    const refused = make(
      { errno: 1180, sqlState: 'HY000' },
      "Got error 149 - 'Lock deadlock; Retry transaction' during COMMIT",
    )
    expect(classifyError(refused)).toMatchObject({
      kind: 'serialization',
      transaction: 'rolled-back',
      code: '1180',
    })
    const full = make(
      { errno: 1180, sqlState: 'HY000' },
      "Got error 28 - 'No space left on device' during COMMIT",
    )
    expect(classifyError(full)).toMatchObject({ kind: 'other', transaction: 'rolled-back' })
  })

  test('a label of MongoDB counts where the code is not known', () => {
    const error = make({ name: 'MongoServerError', code: 99_999, errorLabels: ['TransientTransactionError'] })
    expect(classifyError(error)).toMatchObject({
      kind: 'serialization',
      transaction: 'rolled-back',
      dialect: 'mongodb',
    })
  })
})

describe('the layers of an error', () => {
  test('the engine’s own error is found under any wrapper', () => {
    for (const link of [
      'cause',
      'driverError',
      'originalError',
      'original',
      'parent',
      'nativeError',
      'suppressed',
      'error',
    ]) {
      const wrapped = make({ [link]: make({ cause: postgresDeadlock }) })
      expect(classifyError(wrapped), link).toMatchObject({
        kind: 'deadlock',
        code: '40P01',
        original: postgresDeadlock,
      })
    }
    for (const list of ['errors', 'precedingErrors']) {
      const wrapped = make({ [list]: [new Error('first'), postgresDeadlock] })
      expect(classifyError(wrapped), list).toMatchObject({ kind: 'deadlock', original: postgresDeadlock })
    }
  })

  test('the driver’s word counts more than the socket’s under it', () => {
    const lost = make({ name: 'MongoNetworkError', cause: reset })
    expect(classifyError(lost)).toMatchObject({
      kind: 'connection-lost',
      dialect: 'mongodb',
      code: 'MongoNetworkError',
    })
  })

  test('what says something counts more than what says nothing, whichever is outside', () => {
    const aborted = make({ code: '25P02', severity: 'ERROR' })
    expect(classifyError(make({ code: '25P02', severity: 'ERROR', cause: postgresDeadlock })).kind).toBe(
      'deadlock',
    )
    expect(classifyError(make({ code: '40P01', severity: 'ERROR', cause: aborted })).kind).toBe('deadlock')
  })

  test('a rollback that fails does not hide why it was needed', () => {
    const both = make({ suppressed: postgresDeadlock, error: reset, name: 'SuppressedError' })
    expect(classifyError(both)).toMatchObject({ kind: 'deadlock', dialect: 'postgres' })
  })
})

describe('Holdfast’s own errors', () => {
  test('mean what they say', () => {
    for (const kind of retryableKinds) {
      expect(classifyError(new RetryableTransactionError(kind, 'lost'))).toMatchObject({
        kind,
        retryable: true,
        code: 'TX_RETRYABLE',
      })
    }
    expect(classifyError(new LockTimeoutError('late')).kind).toBe('lock-timeout')
    expect(classifyError(new LockNotAvailableError('held')).kind).toBe('lock-not-available')
    expect(classifyError(new CommitOutcomeUnknownError('cut'))).toMatchObject({
      kind: 'commit-unknown',
      transaction: 'unknown',
    })
    expect(classifyError(new LockUsageError('key', 'is empty'))).toMatchObject({
      kind: 'other',
      retryable: false,
    })
  })

  test('know more than their cause, which still tells the dialect and the code', () => {
    expect(
      classifyError(new CommitOutcomeUnknownError('cut', { cause: reset }), { dialect: 'postgres' }),
    ).toMatchObject({
      kind: 'commit-unknown',
      transaction: 'unknown',
      code: 'ECONNRESET',
      dialect: 'postgres',
    })
    const held = make({ code: '55P03', severity: 'ERROR', routine: 'heap_lock_tuple' })
    const late = new LockTimeoutError('tried until it was late', { cause: held })
    expect(classifyError(late)).toMatchObject({
      kind: 'lock-timeout',
      code: '55P03',
      transaction: 'aborted',
      original: held,
    })
  })

  test('leave the word to their cause when they have no kind of their own', () => {
    expect(classifyError(new LockLostError('gone', { cause: reset })).kind).toBe('connection-lost')
    expect(classifyError(new LockLostError('expired')).kind).toBe('other')
  })
})
