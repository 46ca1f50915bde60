import fc from 'fast-check'
import { expect, test } from 'vitest'

import { classifyError } from '../../src/classify.ts'
import { errorKinds, isRetryable } from '../../src/core/error-kind.ts'
import { RetryableTransactionError } from '../../src/core/errors.ts'
import { registry, type DialectName } from '../../src/registry.ts'

const states = ['open', 'aborted', 'rolled-back', 'unknown']
const dialects = Object.keys(registry) as DialectName[]
const keys = Object.values(registry).flatMap(({ errors }) => Object.keys(errors.codes))

function expectSense(thrown: unknown): void {
  for (const dialect of [undefined, ...dialects]) {
    const found = classifyError(thrown, dialect === undefined ? {} : { dialect })
    expect(errorKinds).toContain(found.kind)
    expect(states).toContain(found.transaction)
    expect(found.retryable).toBe(isRetryable(found.kind))
    expect(['string', 'undefined']).toContain(typeof found.code)
    if (dialect !== undefined) expect(found.dialect).toBe(dialect)
  }
}

const facts =
  'code errno sqlState number class severity routine message name errorLabels fatal sql kind constructor'
const codes = 'originalCode originalMessage extendedCode errcode errorCode'
const links =
  'cause driverError originalError original parent meta driverAdapterError errors precedingErrors suppressed'
const names = fc.constantFrom(...`${facts} ${codes} ${links}`.split(' '))
const values = fc.oneof(
  fc.constantFrom<unknown>(
    ...keys,
    'P2034',
    'EREQUEST',
    'ERROR',
    'MongoServerError',
    'RequestError',
    'Error',
  ),
  fc.integer(),
  fc.anything({ withBigInt: true, withNullPrototype: true, withSparseArray: true, withTypedArray: true }),
)
const errors = fc.letrec((tie) => ({
  error: fc.oneof(
    { maxDepth: 4 },
    fc.dictionary(names, fc.oneof(values, tie('error'), fc.array(tie('error'), { maxLength: 3 })), {
      maxKeys: 8,
    }),
    fc.dictionary(names, values).map((fields) => Object.freeze(Object.assign(new Error('frozen'), fields))),
  ),
})).error

test('whatever is thrown is classified, and never thrown again', () => {
  fc.assert(
    fc.property(fc.oneof(errors, fc.anything(), fc.anything({ withObjectString: true })), expectSense),
    { numRuns: 2000 },
  )
})

test('getters that throw are passed over', () => {
  fc.assert(
    fc.property(fc.uniqueArray(names), fc.dictionary(names, values), (throwing, fields) => {
      const error: object = Object.assign(Object.create(null) as object, fields)
      for (const name of throwing) {
        Object.defineProperty(error, name, {
          get: () => {
            throw new Error(`no ${name} for you`)
          },
        })
      }
      expectSense(error)
    }),
  )
})

test('proxies of any kind are passed over', () => {
  const refuse = (): never => {
    throw new TypeError('hands off')
  }
  const hostile = {
    get: refuse,
    getPrototypeOf: refuse,
    has: refuse,
    ownKeys: refuse,
    getOwnPropertyDescriptor: refuse,
  }
  const { proxy: revoked, revoke } = Proxy.revocable({}, {})
  revoke()
  const mirror: object = new Proxy({}, { get: () => mirror })
  for (const thrown of [new Proxy({}, hostile), revoked, mirror, new Error('x', { cause: revoked })])
    expectSense(thrown)
})

test('chains that end in themselves, or hardly end, are walked for a while', () => {
  const ring = new Error('ring')
  ring.cause = new Error('inner', { cause: ring })
  expectSense(ring)
  const long = Array.from({ length: 10_000 }).reduce<Error>(
    (cause) => new Error('outer', { cause }),
    new Error('core'),
  )
  expectSense(long)
  expectSense(new AggregateError(Array.from({ length: 10_000 }, () => ring)))
})

test('what is not an object is classified too', () => {
  for (const thrown of [undefined, null, 0, Number.NaN, '', 'P2034', 40_001n, true, Symbol('s'), () => {}]) {
    expect(classifyError(thrown)).toEqual({
      kind: 'other',
      retryable: false,
      transaction: 'open',
      original: thrown,
    })
  }
})

test('a chain deeper than is walked still says what its outer part says', () => {
  const deep = new RetryableTransactionError('deadlock', 'outer', { cause: new Error('inner') })
  expect(classifyError(new Error('wrapped', { cause: deep })).kind).toBe('deadlock')
})
