import { readdirSync, readFileSync } from 'node:fs'

import { describe, expect, test } from 'vitest'

import { classifyError } from '../../src/classify.ts'
import { codeInKey } from '../../src/core/classification.ts'
import { isRetryable } from '../../src/core/error-kind.ts'
import { registry, type DialectName } from '../../src/registry.ts'
import { reviveError } from './captured-error.ts'
import type { CapturedFile } from './captured-file.ts'
import { allProvocations } from './provocations.ts'

const folder = new URL('./captured/', import.meta.url)
const files = readdirSync(folder).map(
  (name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as CapturedFile,
)
const known = await allProvocations()

test('every dialect whose errors can be provoked has a file of captured errors', () => {
  expect(files.map(({ engine }) => engine).toSorted()).toEqual([...known.keys()].toSorted())
})

describe.each(files)('errors captured on $engine $version', ({ engine, errors }) => {
  const dialect = engine as DialectName
  const provocations = known.get(engine)

  test.each(errors)('$scenario: $kind, transaction $transaction', ({ error, kind, transaction, key }) => {
    expect(classifyError(reviveError(error), { dialect })).toMatchObject({
      kind,
      transaction,
      retryable: isRetryable(kind),
      code: codeInKey(key),
      dialect,
    })
  })

  test('they are those of the scenarios', () => {
    const captured = errors.map(({ scenario, error, ...expected }) => [scenario, expected])
    expect(captured).toEqual(provocations?.scenarios.map(({ name, expect: expected }) => [name, expected]))
  })

  test('each entry of the table is captured, or it is said why not', () => {
    const captured = new Set(errors.map(({ key }) => key))
    const missing = Object.keys(registry[dialect].errors.codes).filter((key) => !captured.has(key))
    expect(Object.keys(provocations?.notProvoked ?? {}).toSorted()).toEqual(missing.toSorted())
  })

  test('nothing in them tells where they were made', () => {
    const text = JSON.stringify(errors)
    expect(text).not.toMatch(
      /holdfast_[0-9a-f]{12}|127\.0\.0\.1:[1-9]|\/(?:home|root|tmp|usr|work)\/|password/,
    )
  })
})
