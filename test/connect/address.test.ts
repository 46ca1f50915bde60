import { describe, expect, test } from 'vitest'

import { describeAddress, intoDatabase, parseAddress } from '../../src/connect/address.ts'
import { destinationOf } from '../../src/connect/open.ts'
import { fileOf } from '../../src/connect/file.ts'
import { allTextOf } from './refused.ts'

const example = 'db://user:password@host/database'
const passwords = ['p@ss', 'a:b', 'a/b', '100%', 'two words', '%40', 'ä?#&=', 'x@y:1/z', '\'"\\', '%zz']

describe('the address of a server', () => {
  test.each(passwords)('leads to the same password for every driver: %s', (password) => {
    const url = `postgres://me:${encodeURIComponent(password)}@db.example:5432/app?sslmode=require`
    const address = parseAddress(url, example)
    expect(decodeURIComponent(new URL(address.url).password)).toBe(password)
    expect(address).toMatchObject({ user: 'me', database: 'app' })
    expect(address.secrets).toContain(password)
    expect(new URL(address.url)).toMatchObject({ host: 'db.example:5432', search: '?sslmode=require' })
  })

  test.each(['p@ss', 'a:b', '100%', 'two words', '%zz', '\'"\\'])(
    'is also read where a password is written as it is: %s',
    (password) => {
      const address = parseAddress(`postgres://me:${password}@db.example/app`, example)
      expect(decodeURIComponent(new URL(address.url).password)).toBe(password)
    },
  )

  test.each(passwords)('never shows a password, written well or badly: %s', (password) => {
    for (const written of [password, encodeURIComponent(password), encodeURI(password)]) {
      for (const rest of [':5432/app', '/app?x=1', '', ':1,other:2/app']) {
        const url = `postgres://me:${written}@db.example${rest}`
        const shown = `${describeAddress(url)}\n${told(() => destinationOf(url))}`
        expect(describeAddress(url)).not.toContain('@')
        for (const secret of [password, written, `${password}@`, `${written}@`]) {
          expect(shown).not.toContain(secret)
        }
      }
    }
  })

  test.each([
    'postgres://me:pa/ss@host/db',
    'postgres://me:12/ss@host/db',
    'postgres://me:12?ss@host/db',
    'postgres://me:12#ss@host/db',
    'postgres://me:secret',
    'postgres:me:secret@host/db',
    'Server=host;Password=secret',
    'me:secret@host/db',
    'secret',
    'ftp://me:secret@host/db',
  ])('is refused where it is unclear, and nothing of it is repeated: %s', (url) => {
    const text = told(() => destinationOf(url))
    expect(text).toContain("failure: 'address'")
    expect(text).not.toMatch(/secret|\bss\b|pa\/ss|\bme\b/)
  })

  test.each([
    'postgres://host/db?password=a@secret',
    'mssql://sa@host;Password=a@secret',
    'postgres://host/db#a@secret',
  ])('is not shown where the last @ may be one of an option: %s', (url) => {
    expect(describeAddress(url)).toMatch(/^\w+:\/\/\.\.\.$/)
  })

  test('is shown where only a password has what begins an option elsewhere', () => {
    expect(describeAddress('postgres://me:a;b&c=d@host/db')).toBe('postgres://host/db')
  })

  test('holds as secrets every way in which a password may be written', () => {
    const { secrets } = parseAddress('db://u:p%40ss%2Fwo%20rd@h/d', example)
    expect(secrets).toEqual(expect.arrayContaining(['p%40ss%2Fwo%20rd', 'p@ss/wo rd', 'p@ss/wo%20rd']))
    // by hand, a space need not be written as a code
    const loose = parseAddress('db://u:p%40ss wo@h/d', example)
    expect(loose.secrets).toEqual(expect.arrayContaining(['p%40ss wo', 'p@ss wo', 'p%40ss%20wo']))
  })

  test('holds as secrets the values of all options that are not known to be harmless', () => {
    const { secrets } = parseAddress('db://h/d?sslmode=require&password=p1&sslkey=p2&tok=p3&host=h2', example)
    expect(secrets).toEqual(['p1', 'p2', 'p3'])
  })

  test('leads into another database, whatever its options say', () => {
    const url = intoDatabase('mysql://me:a%40b@h:1/app?database=app&DB=app&ssl=true', 'other')
    expect(url).toBe('mysql://me:a%40b@h:1/other?ssl=true')
    expect(intoDatabase('postgres:///app?host=/run/x', 'other')).toBe('postgres:///other?host=/run/x')
  })
})

describe('the address of a file', () => {
  test.each([
    ['/a/b.db', '/a/b.db'],
    ['sqlite:/a/b.db', '/a/b.db'],
    ['sqlite:///a/b%20c.db', '/a/b c.db'],
    ['/a/b%20c.db', '/a/b%20c.db'],
    ['duckdb:/a/b.duckdb?x=1', '/a/b.duckdb'],
  ])('%s is %s', (url, file) => {
    expect(fileOf(url)).toBe(file)
  })

  test.each(['sqlite::memory:', 'sqlite:', 'duckdb::memory:'])('%s is no file', (url) => {
    expect(() => fileOf(url)).toThrow(/name a file/)
  })

  test.each([
    ['app.db', 'app.db'],
    ['sqlite:./app.db?key=secret', 'sqlite:./app.db'],
    ['C:\\data\\app.db', 'C:\\data\\app.db'],
    ['duckdb:app.duckdb', 'duckdb:app.duckdb'],
  ])('%s is shown as %s', (url, shown) => {
    expect(describeAddress(url)).toBe(shown)
  })
})

function told(work: () => unknown): string {
  try {
    work()
    return ''
  } catch (error) {
    return allTextOf(error as Error).replaceAll(/user:password@\S+/g, '')
  }
}
