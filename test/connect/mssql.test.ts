import mssql from 'mssql'
import { beforeAll, describe, expect, test } from 'vitest'

import { parseAddress } from '../../src/connect/address.ts'
import { mssql as driver, mssqlConfig, mssqlScratch } from '../../src/connect/drivers/mssql.ts'
import { isSql } from '../../src/core/statement.ts'
import { tsqlParsers, type TsqlParser } from '../emit/tsql-parsers.ts'

const name = 'holdfast_verify_0123456789ab'

describe('an address of SQL Server', () => {
  const configOf = (url: string): ReturnType<typeof mssqlConfig> =>
    mssqlConfig(parseAddress(url, driver.example).url, 3)

  test('becomes the settings of the driver', () => {
    expect(
      configOf('sqlserver://sa:p%40ss%2F%25@db.example:1444/app?encrypt=false&trustServerCertificate=true'),
    ).toEqual({
      server: 'db.example',
      port: 1444,
      user: 'sa',
      password: 'p@ss/%',
      database: 'app',
      connectionTimeout: 10_000,
      pool: { max: 3 },
      options: { encrypt: false, trustServerCertificate: true },
    })
  })

  test('is encrypted, checked, and for the usual port and database unless it says otherwise', () => {
    expect(configOf('mssql://sa:x@db.example')).toMatchObject({
      port: 1433,
      database: 'master',
      options: { encrypt: true, trustServerCertificate: false },
    })
    expect(configOf('mssql://sa:x@[::1]:1/a').server).toBe('::1')
    expect(configOf('mssql://sa:x@h/a?instanceName=EXPRESS')).not.toHaveProperty('port')
  })

  test('is accepted by the driver', () => {
    expect(
      () => new mssql.ConnectionPool(configOf('mssql://sa:x@db.example/app') as mssql.config),
    ).not.toThrow()
  })
})

describe('the statements for a scratch database', () => {
  let parsers: readonly TsqlParser[]
  beforeAll(async () => {
    parsers = await tsqlParsers()
  })
  const { make, settings, set, remove } = mssqlScratch
  const { currentDatabase } = driver
  const statements = [
    make(name),
    settings,
    set(name, 'READ_COMMITTED_SNAPSHOT', true),
    set(name, 'ALLOW_SNAPSHOT_ISOLATION', false),
    remove(name),
    currentDatabase !== undefined && isSql(currentDatabase) ? currentDatabase.sql : '',
  ]

  test.each(statements)('are T-SQL to a parser that knows such statements: %s', (text) => {
    const accepted = parsers.filter(({ problem }) => problem(text) === undefined).map((parser) => parser.name)
    expect(accepted.length, text).toBeGreaterThanOrEqual(1)
    expect(accepted, text).toContain('antlr4ts-sql')
  })

  test('are not, when a word of them is wrong', () => {
    const antlr = parsers.find((parser) => parser.name === 'antlr4ts-sql')
    expect(antlr?.problem(remove(name).replace('ROLLBACK IMMEDIATE', 'ROLLBACK AT ONCE'))).toBeDefined()
    expect(antlr?.problem(set(name, 'READ_COMMITTED_SNAPSHOTS', true))).toBeDefined()
  })
})
