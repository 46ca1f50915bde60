import sql from 'mssql'
import { expect, test } from 'vitest'

import { isolationLevels, sessions, type MssqlPool } from '../../src/adapters/mssql/sessions.ts'
import { LockUsageError } from '../../src/core/errors.ts'

const config = { server: '127.0.0.1', port: 1, user: 'nobody', password: 'none', connectionTimeout: 500 }

test("without a server: the numbers of the isolation levels are the driver's own", () => {
  expect(isolationLevels).toEqual({
    'read uncommitted': sql.ISOLATION_LEVEL.READ_UNCOMMITTED,
    'read committed': sql.ISOLATION_LEVEL.READ_COMMITTED,
    'repeatable read': sql.ISOLATION_LEVEL.REPEATABLE_READ,
    serializable: sql.ISOLATION_LEVEL.SERIALIZABLE,
    snapshot: sql.ISOLATION_LEVEL.SNAPSHOT,
  })
})

test('without a server: a pool that was never connected gives no session', async () => {
  const pool = new sql.ConnectionPool(config)
  pool.on('error', () => {})
  await expect(sessions(pool).open()).rejects.toMatchObject({ code: 'ENOTOPEN' })
})

test('without a server: what cannot lend a connection is refused', async () => {
  const pool = new sql.ConnectionPool(config)
  const stranger: MssqlPool = {
    connected: true,
    request: () => pool.request(),
    transaction: () => pool.transaction(),
  }
  await expect(sessions(stranger).open()).rejects.toThrow(LockUsageError)
})

test("without a server: the driver's pool has the methods that its types leave out", () => {
  const pool = new sql.ConnectionPool(config)
  expect(pool).toMatchObject({ acquire: expect.any(Function), release: expect.any(Function) })
})
