import { expect, test } from 'vitest'

import type { Row } from '../../src/core/statement.ts'
import { registry } from '../../src/registry.ts'

/*
 * None of these servers runs here: the answers are those of their documentation. What runs here is told from them in
 * test/attest, where a server as it should be has no finding.
 */

const postgres = (await registry.postgres.tools()).examination
const mysql = (await registry.mysql.tools()).examination

function kindOf(row: Row): readonly string[] {
  const replies = { kind: [{ citus: false, aurora: false, ...row }] }
  return postgres.read(replies, registry.postgres.readVersion('18')).map(({ id }) => id)
}

test.each([
  ['CockroachDB CCL v25.4.1 (x86_64-pc-linux-gnu, built 2025/11/20, go1.25)', ['cockroachdb']],
  [
    'PostgreSQL 15.2-YB-2025.1.0.0-b0 on x86_64-pc-linux-gnu, compiled by clang version 17.0.6',
    ['yugabytedb'],
  ],
  ['PostgreSQL 18.4 on aarch64-unknown-linux-gnu, compiled by gcc 12.2.0, 64-bit', []],
])('%s is told by its name', (version, ids) => {
  expect(kindOf({ version })).toEqual(ids)
})

test('Citus is told by its extension, and Aurora by a function that only it has', () => {
  const version = 'PostgreSQL 16.4 on x86_64-pc-linux-gnu, compiled by gcc 9.5.0, 64-bit'
  expect(kindOf({ version, citus: true })).toEqual(['citus'])
  expect(kindOf({ version, aurora: true })).toEqual(['aurora'])
  expect(kindOf({ version, aurora: 't' })).toEqual(['aurora'])
})

test.each([
  ['version', '8.0.40-Vitess', ['vitess']],
  ['version', '5.7.9-vitess-10.0.0-SNAPSHOT', ['vitess']],
  ['version', '9.7.0', []],
  ['aurora_version', '3.04.0', ['aurora']],
  ['ndb_version_string', 'ndb-9.7.0', ['ndb']],
])('MySQL with %s = %s', (name, value, ids) => {
  const replies = { settings: [{ Variable_name: name, Value: value }] }
  const findings = mysql.read(replies, registry.mysql.readVersion('9.7'))
  expect(findings.map(({ id }) => id)).toEqual(ids)
  for (const { title } of findings) expect(title).toContain('has not been tested')
})
