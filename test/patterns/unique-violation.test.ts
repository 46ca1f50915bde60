import { expect, test } from 'vitest'

import { isUniqueViolation } from '../../src/unique-violation.ts'
import { registry, type DialectName } from '../../src/registry.ts'
import { caught, describePatterns } from './stage.ts'

describePatterns((stage) => {
  const dialect = stage.name as DialectName

  test('a second row with the same key is told, by the error alone', async () => {
    const node = stage.node()
    const twice = node.meeting.shared.transaction((tx) => node.run(tx, stage.sql.insertAccount(1)))
    const error = await caught(twice)
    expect(isUniqueViolation(error)).toBe(true)
    expect(isUniqueViolation(error, { dialect })).toBe(true)
    expect(isUniqueViolation(new Error('the application wraps it', { cause: error }))).toBe(true)
  })

  test('no other error is taken for it', async () => {
    const node = stage.node()
    const unknown = { sql: 'SELECT * FROM no_such_table', params: [] }
    const broken = stage.name === 'mongodb' ? { command: { noSuchCommand: 1 } } : unknown
    const error = await caught(node.meeting.shared.transaction((tx) => node.run(tx, broken)))
    expect(error).toBeInstanceOf(Error)
    expect(isUniqueViolation(error)).toBe(false)
    expect(isUniqueViolation(error, { dialect: registry[dialect] })).toBe(false)
  })
})

test('nothing that is not an error is taken for it', () => {
  for (const value of [undefined, null, 'unique', 1062, {}, new Error('unique')])
    expect(isUniqueViolation(value)).toBe(false)
})
