import { PrismaClientInitializationError, PrismaClientKnownRequestError } from '@prisma/client-runtime-utils'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { classifyError } from '../../src/classify.ts'
import type { Classification } from '../../src/core/classification.ts'
import { describeEngines, until, type EngineContext } from '../engines/use.ts'
import { libraryCases, type LibraryCase } from './library-cases.ts'
import { prepare } from './play.ts'
import { allProvocations } from './provocations.ts'
import { sql } from './provoke/sql.ts'
import { libraries, type LibrarySession, type OpenLibrary } from './query-libraries.ts'
import { errorOf, outcomeOf } from './stage.ts'

const known = await allProvocations()

describeEngines(
  (context) => {
    const provocations = known.get(context.name)
    if (provocations === undefined) return
    beforeAll(() => prepare(context.engine, provocations))
    beforeEach(async () => {
      const session = await context.engine.open()
      for (const statement of provocations.reset) await session.run(statement)
      await session.close()
    })
    for (const [library, open] of Object.entries(libraries[context.name] ?? {})) {
      for (const part of libraryCases[context.name] ?? []) {
        test(`${part.name} is the same through ${library} as without`, async () => {
          const bare = await provoke(context, part, bareSession(context))
          const wrapped = await provoke(context, part, open)
          expect(meaningOf(bare)).toMatchObject({ dialect: context.name })
          expect(meaningOf(bare).kind).not.toBe('other')
          expect(meaningOf(wrapped)).toEqual(meaningOf(bare))
          // what was unwrapped is the driver's own error
          expect(Object.getPrototypeOf(classifyError(wrapped).original)).toBe(Object.getPrototypeOf(bare))
        })
      }
    }
  },
  { only: Object.keys(libraries) },
)

function meaningOf(error: unknown): Omit<Classification, 'original'> {
  const { original, ...meaning } = classifyError(error)
  return meaning
}

function bareSession({ engine }: EngineContext): OpenLibrary {
  return async () => {
    const session = await engine.open()
    return { run: (text) => session.run(sql(text)), close: session.close }
  }
}

async function provoke({ engine }: EngineContext, part: LibraryCase, open: OpenLibrary): Promise<unknown> {
  const [other, session] = [await engine.open(), await open(engine.server.url)]
  const waiting: Promise<unknown>[] = []
  try {
    for (const text of part.first) await session.run(text)
    for (const text of part.other) await other.run(sql(text))
    if (part.otherWaits !== undefined) {
      waiting.push(outcomeOf(other.run(part.otherWaits)).settled)
      await until(() => engine.isWaiting(other), 'the other session waiting')
    }
    return await errorOf(session.run(part.statement))
  } finally {
    await rollBack(session)
    await Promise.all(waiting)
    await other.close()
    await session.close()
  }
}

/** A library may close its connection only with its transaction ended. */
async function rollBack(session: LibrarySession): Promise<void> {
  await session.run('rollback').catch(() => {}) // there may be none
}

/** As the database layer of a wrapper with Prisma's interface would throw it. */
class DbKnownError extends Error {
  override readonly name = 'DbKnownError'
  readonly code: string
  readonly meta: Readonly<Record<string, unknown>>
  constructor(code: string, meta: Readonly<Record<string, unknown>> = {}, options?: ErrorOptions) {
    super(`failed with ${code}`, options)
    this.code = code
    this.meta = meta
  }
}

/** Prisma's own class, with the `meta` that its engine or its driver adapters give. */
function prismaError(code: string, meta?: Record<string, unknown>): Error {
  return new PrismaClientKnownRequestError('failed', { code, clientVersion: '7.10.0', ...(meta && { meta }) })
}

/** As @prisma/adapter-* 7 passes a driver's error on. */
function adapterMeta(cause: Record<string, unknown>): Record<string, unknown> {
  return {
    driverAdapterError: Object.assign(new Error(String(cause.kind)), { name: 'DriverAdapterError', cause }),
  }
}

describe('Prisma’s own error class, with meta as its adapters and its engine fill it', () => {
  test('a code of Prisma’s counts when nothing inside is known', () => {
    expect(classifyError(prismaError('P2034'))).toMatchObject({
      kind: 'write-conflict',
      retryable: true,
      code: 'P2034',
    })
    expect(classifyError(prismaError('P2002'))).toMatchObject({ kind: 'unique-violation', retryable: false })
    for (const code of ['P1001', 'P1002', 'P1008', 'P1017']) {
      expect(classifyError(prismaError(code))).toMatchObject({
        kind: 'connection-lost',
        transaction: 'unknown',
        code,
      })
    }
    expect(classifyError(new PrismaClientInitializationError('no server', '7.10.0', 'P1001')).kind).toBe(
      'connection-lost',
    )
    expect(classifyError(prismaError('P2025'))).toMatchObject({ kind: 'other', retryable: false })
  })

  test('the engine’s code inside counts more', () => {
    const original = { originalMessage: 'failed', kind: 'TransactionWriteConflict' }
    const inside = (originalCode: string): Classification =>
      classifyError(prismaError('P2034', adapterMeta({ ...original, originalCode })))
    expect(inside('40P01')).toMatchObject({ kind: 'deadlock', dialect: 'postgres', code: '40P01' })
    expect(inside('40001')).toMatchObject({ kind: 'serialization', dialect: 'postgres' })
    expect(inside('1213')).toMatchObject({ kind: 'deadlock', dialect: 'mysql', transaction: 'rolled-back' })
    // its adapter for SQL Server passes no number on
    expect(inside('EREQUEST')).toMatchObject({ kind: 'write-conflict', code: 'P2034' })
  })

  test('a busy SQLite, which Prisma calls a timeout of its socket, is busy', () => {
    const meta = adapterMeta({
      kind: 'SocketTimeout',
      originalCode: 'SQLITE_BUSY',
      originalMessage: 'database is locked',
    })
    expect(classifyError(prismaError('P1008', meta))).toMatchObject({
      kind: 'busy',
      retryable: true,
      dialect: 'sqlite',
    })
  })

  test('P2010, a raw query that failed, says what its meta says', () => {
    const raw = (cause: Record<string, unknown>): Classification =>
      classifyError(prismaError('P2010', adapterMeta(cause)))
    expect(raw({ kind: 'postgres', code: '55P03', severity: 'ERROR', message: 'x' }).kind).toBe(
      'lock-not-available',
    )
    expect(
      raw({ kind: 'mysql', originalCode: '1205', originalMessage: 'x', code: 1205, state: 'HY000' }).kind,
    ).toBe('lock-timeout')
    expect(raw({ kind: 'mssql', code: 1222, message: 'x' })).toMatchObject({
      kind: 'lock-timeout',
      dialect: 'mssql',
    })
    expect(raw({ kind: 'sqlite', extendedCode: 517, message: 'x' }).kind).toBe('serialization')
  })

  test('P2010 of Prisma’s own engine gives the code in meta itself', () => {
    expect(classifyError(prismaError('P2010', { code: '40P01', message: 'x' }))).toMatchObject({
      kind: 'deadlock',
      dialect: 'postgres',
    })
    const number = prismaError('P2010', { code: '1205', message: 'x' })
    // MySQL and SQL Server share this number, and nothing else is said
    expect(classifyError(number).kind).toBe('other')
    expect(classifyError(number, { dialect: 'mysql' }).kind).toBe('lock-timeout')
    expect(classifyError(number, { dialect: 'mssql' }).kind).toBe('deadlock')
  })
})

describe('errors of a wrapper with Prisma’s interface', () => {
  const deadlock = Object.assign(new Error('deadlock'), { code: '40P01', severity: 'ERROR' })

  test('P2034 alone is a write conflict', () => {
    expect(classifyError(new DbKnownError('P2034'))).toMatchObject({
      kind: 'write-conflict',
      retryable: true,
    })
  })

  test('P2034 with the driver’s error as its cause, or in meta, is what the driver says', () => {
    for (const error of [
      new DbKnownError('P2034', {}, { cause: deadlock }),
      new DbKnownError('P2034', { cause: deadlock }),
    ]) {
      expect(classifyError(error)).toMatchObject({
        kind: 'deadlock',
        code: '40P01',
        dialect: 'postgres',
        original: deadlock,
      })
    }
  })
})

describe('words behind the statement that Knex puts before them', () => {
  const drivers = {
    postgres: { words: 'Connection terminated unexpectedly', code: '40P01' },
    mysql: { words: "Can't add new command when connection is in closed state", code: '1213' },
    mariadb: { words: "Can't add new command when connection is in closed state", code: '1213' },
    sqlite: { words: 'The database connection is not open', code: 'SQLITE_BUSY' },
  } as const
  test.each(Object.entries(drivers))("are the driver's, and codes there are not: %s", (name, said) => {
    const dialect = name as keyof typeof drivers
    const kindOf = (message: string, options?: ErrorOptions): string =>
      classifyError(Object.assign(new Error(message, options), { fatal: true }), { dialect }).kind
    expect(kindOf(said.words)).toBe('connection-lost')
    expect(kindOf(`update account set name = 'a - b' - ${said.words}`)).toBe('connection-lost')
    expect(kindOf(`select 1 - ${said.code}`)).toBe('other')
    // where a statement only speaks of it, or a wrapper's message ends in a value
    expect(kindOf(`insert into note values (' - ${said.words}') - no such table`)).toBe('other')
    expect(kindOf(`insert into note values ('x - ${said.words}')`)).toBe('other')
    expect(kindOf(`Failed query: x\nparams: a - ${said.words}`, { cause: new Error('mine') })).toBe('other')
  })
})
