import { expect, test } from 'vitest'

import { intoMongodbDatabase } from './mongodb-url.ts'

test.each([
  ['mongodb://127.0.0.1:27017', 'mongodb://127.0.0.1:27017/own?appName=own'],
  [
    'mongodb://127.0.0.1:27017/old?directConnection=true',
    'mongodb://127.0.0.1:27017/own?directConnection=true&appName=own',
  ],
  ['mongodb://a:1,b:2/?replicaSet=rs0&appname=mine', 'mongodb://a:1,b:2/own?replicaSet=rs0&appName=own'],
])('%s leads into another database, under its name', (url, expected) => {
  expect(intoMongodbDatabase(url, 'own')).toBe(expected)
})

test.each([
  ['mongodb://me:secret@a', 'admin'],
  ['mongodb+srv://me:secret@a/accounts', 'accounts'],
  ['mongodb://me:secret@a/app?authsource=elsewhere', null],
])('the account of %s is looked up where it was before', (url, source) => {
  expect(new URL(intoMongodbDatabase(url, 'own')).searchParams.get('authSource')).toBe(source)
})

test('what is no MongoDB address is refused without being shown', () => {
  expect(() => intoMongodbDatabase('postgres://me:secret@a', 'own')).toThrow(/^a MongoDB address begins with/)
})
