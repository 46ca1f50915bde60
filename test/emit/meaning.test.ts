import { afterEach, beforeAll, describe, expect, test } from 'vitest'

import { classifyError } from '../../src/classify.ts'
import { LockUsageError, UnsupportedLockError } from '../../src/core/errors.ts'
import type { Plan } from '../../src/core/plan.ts'
import { emit } from '../../src/emit.ts'
import type { DialectName } from '../../src/registry.ts'
import type { EngineSession } from '../engines/engine.ts'
import { describeEngines, until, type EngineContext } from '../engines/use.ts'
import { cases, type Case } from './cases.ts'
import { fixtures } from './fixtures.ts'
import { endLock, takeLock, withoutLock, type Grant } from './run-plan.ts'

describeEngines((context) => {
  const { createAccounts = [], readSettings } = fixtures[context.name] ?? {}
  const sessions: EngineSession[] = []
  const open = async (): Promise<EngineSession> => {
    const session = await context.engine.open()
    sessions.push(session)
    return session
  }

  beforeAll(async () => {
    const session = await context.engine.open()
    for (const statement of createAccounts) await session.run(statement)
    await session.close()
  })

  afterEach(async () => {
    await Promise.allSettled(sessions.splice(0).map((session) => session.close()))
    await until(async () => (await context.engine.leftovers()).length === 0, `${context.name} holds nothing`)
  })

  describe.each(plannedCases(context))('$one.category, $one.title,', ({ one, plan }) => {
    test('runs on the real engine and leaves neither a lock nor a changed setting', async () => {
      const session = await open()
      const before = readSettings && (await session.run(readSettings))
      for (const how of ['commit', 'rollback'] as const) {
        expect((await takeLock(session, plan)).refused).toBeUndefined()
        await endLock(session, plan, how)
        expect(readSettings && (await session.run(readSettings))).toEqual(before)
      }
      expect(await context.engine.leftovers()).toEqual([])
    })

    if (plan.mode === 'shared') {
      test('lets a second session share it, and keeps a writer out', async () => {
        const exclusive = planFor(context, exclusiveOf(one)) ?? expect.unreachable('no exclusive counterpart')
        const [first, second, writer] = [await open(), await open(), await open()]
        expect((await takeLock(first, plan)).refused).toBeUndefined()
        expect((await takeLock(second, plan)).refused).toBeUndefined()
        await endLock(second, plan)
        const attempt = takeLock(writer, exclusive)
        await expectKeptOut(context, {
          plan: exclusive,
          other: writer,
          attempt,
          release: () => endLock(first, plan),
        })
      })
    } else if (locksSomething(plan)) {
      test('keeps a second session out until the first ends', async () => {
        const [holder, other] = [await open(), await open()]
        expect((await takeLock(holder, plan)).refused).toBeUndefined()
        const attempt = takeLock(other, plan)
        await expectKeptOut(context, { plan, other, attempt, release: () => endLock(holder, plan) })
      })

      test('is what keeps it out: with the lock taken out of the plan, nothing does', async () => {
        const bare = withoutLock(plan)
        const [holder, other] = [await open(), await open()]
        for (const session of [holder, other])
          expect(readGrant(plan, await takeLock(session, bare))).toBe('granted')
        for (const session of [holder, other]) await endLock(session, bare)
      })
    }
  })
})

interface Contest {
  readonly plan: Plan
  readonly other: EngineSession
  readonly attempt: Promise<Grant>
  readonly release: () => Promise<void>
}

/** What "kept out" looks like depends on who waits, which is what the plan says. */
async function expectKeptOut(
  context: EngineContext,
  { plan, other, attempt, release }: Contest,
): Promise<void> {
  const read = (grant: Grant): string => readGrant(plan, grant)
  const outcome = attempt.then(read, readError)
  if (plan.waiting.by === 'server') {
    await until(() => context.engine.isWaiting(other), 'the second session waits for the lock')
    if (plan.waiting.timeoutMs === undefined) {
      await release()
      expect(await outcome).toBe('granted')
      return
    }
  }
  expect(await outcome).toBe(plan.category === 'skip-locked' ? 'skipped' : 'refused')
  await other.rollback().catch(() => {})
  await release()
  expect(await takeLock(other, plan).then(read, readError)).toBe('granted')
  await endLock(other, plan)
}

function readGrant(plan: Plan, { refused, rows }: Grant): string {
  if (refused !== undefined) return refused === 'busy' ? 'refused' : refused
  return plan.category === 'skip-locked' && rows.length === 0 ? 'skipped' : 'granted'
}

/** The kinds of error by which a lock that somebody else holds may show. */
const refusals = ['lock-not-available', 'lock-timeout', 'busy', 'write-conflict']

function readError(error: unknown): string {
  const { kind } = classifyError(error)
  return refusals.includes(kind) ? 'refused' : `${kind}: ${String(error)}`
}

function plannedCases(context: EngineContext): readonly { readonly one: Case; readonly plan: Plan }[] {
  return cases.flatMap((one) => {
    const plan = planFor(context, one)
    return plan === undefined ? [] : [{ one, plan }]
  })
}

/** The plan for this server's own version; undefined where the dialect refuses it, which is proved elsewhere. */
function planFor({ name, server }: EngineContext, { category, request }: Case): Plan | undefined {
  try {
    return emit({ dialect: name as DialectName, version: server.version }, category, request)
  } catch (error) {
    if (error instanceof UnsupportedLockError || error instanceof LockUsageError) return undefined
    throw error
  }
}

/** A plan for a query of the caller's has no statement of its own that could lock. */
function locksSomething({ query, begin, beforeBegin, inTransaction }: Plan): boolean {
  return query?.read !== undefined || begin !== undefined || beforeBegin.length + inTransaction.length > 0
}

/** The same lock, exclusive. */
function exclusiveOf(one: Case): Case {
  const { strength: _, mode: __, ...rest } = one.request as { strength?: unknown; mode?: unknown }
  const category = one.category === 'row-shared' ? 'row-exclusive' : one.category
  return { ...one, category, request: rest }
}
