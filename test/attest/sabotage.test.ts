import { expect, test } from 'vitest'

import type { Category } from '../../src/core/category.ts'
import type { PlanDraft } from '../../src/core/plan.ts'
import { isSql, type SqlStatement, type Statement } from '../../src/core/statement.ts'
import { isUnsupported } from '../../src/core/support.ts'
import type { Dialect, Emitter } from '../../src/dialects/dialect.ts'
import type { LeaseClaim } from '../../src/dialects/lease.ts'
import { seenAwake } from '../engines/standstill.ts'
import { describeAttest, observedIn } from './stage.ts'

/** The dialect with the plans of one category made worse. */
function worse(dialect: Dialect, category: Category, change: (draft: PlanDraft) => PlanDraft): Dialect {
  const cell = dialect.cells[category] as Emitter<never>
  const changed: Emitter<never> = (request, version) => {
    const draft = cell(request, version)
    return isUnsupported(draft) ? draft : change(draft)
  }
  return { ...dialect, cells: { ...dialect.cells, [category]: changed } }
}

/** Takes words out of the locking read, and everything that is sent before it. */
function without(words: RegExp): (draft: PlanDraft) => PlanDraft {
  return ({ setting: _, ...draft }) => {
    const read = draft.query?.read
    if (draft.query?.style === 'touch') {
      return { ...draft, query: { style: 'covered', ...(read && { read: read as SqlStatement }) } }
    }
    if (draft.query === undefined || read === undefined || !isSql(read))
      return { ...draft, inTransaction: [] }
    const weak = { ...read, sql: read.sql.replace(words, '') }
    return { ...draft, inTransaction: [], query: { ...draft.query, read: weak } }
  }
}

const nothing: SqlStatement = { sql: 'SELECT 1 AS answer', params: [] }
const released: SqlStatement = {
  ...nothing,
  answers: { column: 'answer', meaning: { 1: 'released', '*': 'released' } },
}

/** The server's own answer to who waits for too long, given to somebody who did not wait. */
const conflict: SqlStatement = {
  sql: `DO $$ BEGIN RAISE EXCEPTION 'busy' USING ERRCODE = 'lock_not_available'; END $$`,
  params: [],
}

/** The lease of another is ended before each request. */
function endOthers(name: string): Statement {
  return name === 'mongodb'
    ? {
        command: {
          update: '_leases',
          updates: [{ q: {}, u: { $set: { expiresAt: new Date(0) } }, multi: true }],
        },
      }
    : { sql: 'UPDATE _leases SET expires_at = 0', params: [] }
}

const own = (title: string): boolean => !/kysely|one handle/.test(title)

describeAttest(
  (stage) => {
    test('a row lock that locks nothing is broken', async () => {
      const weak = worse(stage.dialect, 'row-exclusive', without(/ FOR UPDATE.*$/))
      // where BEGIN is the lock, that is what has to be weak
      const dialect = stage.name === 'sqlite' ? { ...weak, transaction: {} } : weak
      const observed = observedIn(await seenAwake(() => stage.locks(dialect).attest()))
      expect(observed).toMatchObject({
        'row-exclusive': 'broken',
        nowait: 'untried',
        'lock-timeout': 'untried',
      })
      expect(observed).toMatchObject({ lease: 'holds', 'advisory-session': 'holds' })
    })

    test('a lease that is always granted is broken', async () => {
      const { lease } = stage.dialect
      const weak = {
        ...lease,
        acquire: (claim: LeaseClaim) => [endOthers(stage.name), ...lease.acquire(claim)],
      }
      const attestation = await seenAwake(() => stage.locks({ ...stage.dialect, lease: weak }).attest())
      expect(observedIn(attestation)).toMatchObject({ lease: 'broken', 'row-exclusive': 'holds' })
    })
  },
  { isWanted: own },
)

describeAttest(
  (stage) => {
    test.each([
      ['skip-locked', / SKIP LOCKED$/],
      ['skip-locked', / FOR UPDATE SKIP LOCKED$/],
      ['nowait', / NOWAIT$/],
      ['nowait', / FOR UPDATE NOWAIT$/],
      ['lock-timeout', / FOR UPDATE.*$/],
      ['row-shared', / (FOR SHARE|LOCK IN SHARE MODE)$/],
    ] as const)('%s without %s is broken, and the exclusive lock is not', async (category, words) => {
      const dialect = worse(stage.dialect, category, without(words))
      const observed = observedIn(await seenAwake(() => stage.locks(dialect).attest()))
      expect(observed).toMatchObject({ [category]: 'broken', 'row-exclusive': 'holds', advisory: 'holds' })
    })

    test('a named lock that locks nothing is broken, in both scopes', async () => {
      const dialect = worse(stage.dialect, 'advisory', (draft) => ({
        ...draft,
        ...(draft.inTransaction === undefined
          ? { beforeBegin: [nothing], afterEnd: [released] }
          : { inTransaction: [nothing] }),
      }))
      const observed = observedIn(await seenAwake(() => stage.locks(dialect).attest()))
      expect(observed).toMatchObject({ advisory: 'broken', 'advisory-session': 'broken', lease: 'holds' })
    })
  },
  { only: ['postgres', 'mysql', 'mariadb'], isWanted: own },
)

describeAttest(
  (stage) => {
    test('a wait that never ends is broken', async () => {
      const dialect = worse(stage.dialect, 'lock-timeout', ({ setting: _, ...draft }) => draft)
      const { capabilities } = await seenAwake(() => stage.locks(dialect).attest())
      const timeout = capabilities.find(({ capability }) => capability === 'lock-timeout')
      expect(timeout).toMatchObject({
        observed: 'broken',
        detail: expect.stringMatching(/had not ended after/),
      })
    })

    test('a row lock that locks nothing is broken, though a busy server keeps somebody out', async () => {
      const weak = worse(stage.dialect, 'row-exclusive', without(/ FOR UPDATE.*$/))
      const busy = worse(weak, 'lock-timeout', (draft) => ({ ...draft, inTransaction: [conflict] }))
      expect(observedIn(await seenAwake(() => stage.locks(busy).attest()))).toMatchObject({
        'row-exclusive': 'broken',
        nowait: 'untried',
        'lock-timeout': 'untried',
      })
    })

    test('a table lock that locks nothing is broken', async () => {
      const dialect = worse(stage.dialect, 'table', (draft) => ({ ...draft, inTransaction: [nothing] }))
      expect(observedIn(await seenAwake(() => stage.locks(dialect).attest()))).toMatchObject({
        table: 'broken',
        lease: 'holds',
      })
    })

    test('a server that is too old gets no lock, and is told so', async () => {
      const dialect = { ...stage.dialect, versions: { oldest: '99', assumed: '99' } }
      const { capabilities, findings } = await seenAwake(() => stage.locks(dialect).attest())
      expect(capabilities.filter(({ observed }) => observed !== 'refused')).toMatchObject([
        { capability: 'lease', observed: 'holds' },
      ])
      expect(findings[0]).toMatchObject({ id: 'version-too-old', severity: 'error' })
    })
  },
  { only: ['postgres'], isWanted: own },
)

describeAttest(
  (stage) => {
    test('a row lock that locks nothing is broken, though others are kept out by a conflict over something else', async () => {
      const other = (n: number): Statement => ({
        command: { update: 'elsewhere', updates: [{ q: { _id: 1 }, u: { $set: { n } }, upsert: true }] },
      })
      await stage.run(other(0))
      const rival = await stage.engine.open()
      await rival.begin()
      await rival.run(other(1))
      const meets = (draft: PlanDraft): PlanDraft => ({ ...draft, inTransaction: [other(2)] })
      const weak = worse(stage.dialect, 'row-exclusive', without(/$/))
      const busy = worse(worse(weak, 'nowait', meets), 'lock-timeout', meets)
      const observed = observedIn(await seenAwake(() => stage.locks(busy).attest()))
      await rival.rollback()
      await rival.close()
      expect(observed).toMatchObject({
        'row-exclusive': 'broken',
        nowait: 'untried',
        'lock-timeout': 'untried',
      })
    })
  },
  { only: ['mongodb'], isWanted: own },
)
