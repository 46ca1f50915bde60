import { expect, test } from 'vitest'

import { describeUrl } from './describe-url.ts'

test.each([
  ['postgres://me:secret@db.example:5432/app', 'postgres://db.example:5432/app'],
  ['postgres://me:sec?ret@db.example/app', 'postgres://db.example/app'],
  ['postgres://me:se@cr/et@db.example/app?sslmode=require&password=secret', 'postgres://db.example/app'],
  ['mongodb://me:secret@a:1,b:2/?replicaSet=secret', 'mongodb://a:1,b:2/'],
  ['mysql://127.0.0.1:3306/app#secret', 'mysql://127.0.0.1:3306/app'],
  ['Server=db.example;Password=secret', '(an address without a scheme)'],
  ['/somewhere/data.db', '/somewhere/data.db'],
])('what is shown of %s holds no secret', (url, shown) => {
  expect(describeUrl(url)).toBe(shown)
  expect(describeUrl(url)).not.toContain('secret')
})
