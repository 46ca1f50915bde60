import { expect, test } from 'vitest'

import { categories } from '../../src/core/category.ts'
import { LockUsageError } from '../../src/core/errors.ts'
import { isUnsupported } from '../../src/core/support.ts'
import { caught } from '../entries/stage.ts'
import { seenAwake } from '../engines/standstill.ts'
import { describeAttest, idsIn, observedIn, type Stage } from './stage.ts'

/** How many rows of trials are in the table of leases. */
async function trialRows({ name, run }: Stage): Promise<number> {
  const [row] = await run(
    name === 'mongodb'
      ? {
          command: {
            aggregate: '_leases',
            pipeline: [{ $match: { _id: { $regex: 'holdfast\\.attest' } } }, { $count: 'n' }],
            cursor: {},
          },
        }
      : `select count(*) as n from _leases where name like '%holdfast.attest%'`,
  )
  return Number(row?.n ?? 0)
}

describeAttest((stage) => {
  test('what is claimed holds, what is not is refused, and nothing is left behind', async () => {
    const attestation = await seenAwake(() => stage.locks().attest())
    const { capabilities, dialect } = attestation
    expect(dialect).toBe(stage.name)
    expect(capabilities.map(({ capability }) => capability)).toEqual([
      ...categories,
      'advisory-session',
      'lease',
    ])
    const expected = capabilities.map(({ capability, claimed }) => [
      capability,
      isUnsupported(claimed) ? 'refused' : 'holds',
    ])
    expect(observedIn(attestation)).toEqual(Object.fromEntries(expected))
    expect(capabilities.filter(({ detail }) => detail === '')).toEqual([])
    expect(idsIn(attestation)).not.toContain('unknown')
    expect(await trialRows(stage)).toBe(0)
  })

  test('it can be repeated with the same locks, inside of a transaction too where that does not keep it out', async () => {
    const locks = stage.locks()
    const first = await seenAwake(() => locks.attest())
    const second = await seenAwake(() => locks.attest())
    expect(observedIn(second)).toEqual(observedIn(first))
    const inside = seenAwake(() => locks.transaction(() => locks.attest()))
    // the transaction has SQLite's only lock
    if (stage.name === 'sqlite') expect(await caught(inside)).toMatchObject({ field: 'nested' })
    else expect(Object.values(observedIn(await inside))).not.toContain('broken')
    expect(await trialRows(stage)).toBe(0)
  })

  test('an abort ends it with the reason, and nothing is left behind', async () => {
    const locks = stage.locks()
    await locks.attest()
    const reason = new Error('enough')
    expect(await caught(locks.attest({ signal: AbortSignal.abort(reason) }))).toBe(reason)
    // whatever is under way at that moment
    for (let afterMs = 0; afterMs <= 60; afterMs += 6) {
      const controller = new AbortController()
      const running = caught(locks.attest({ signal: controller.signal }))
      const timer = setTimeout(() => controller.abort(reason), afterMs)
      // a quick machine may have ended before
      expect([reason, 'no error']).toContain(await running)
      clearTimeout(timer)
    }
    expect(await trialRows(stage)).toBe(0)
  })
})

describeAttest(
  (stage) => {
    test.each([
      [{ queue: [] }, /queue/],
      [{ queues: [{ table: '', columns: ['a'] }] }, /queues\[0\]\.table/],
      [{ queues: [{ table: 'a', columns: [] }] }, /queues\[0\]\.columns/],
      [{ queues: 'jobs' }, /queues/],
      [{ signal: 1 }, /signal/],
    ])('refuses %j at the door', async (options, message) => {
      const error = await caught(stage.locks().attest(options as never))
      expect(error).toBeInstanceOf(LockUsageError)
      expect(String(error)).toMatch(message)
    })

    test('a dialect without tools is refused', async () => {
      const { tools: _, ...bare } = stage.dialect
      expect(await caught(stage.locks(bare).attest())).toMatchObject({ field: 'dialect' })
    })
  },
  { only: ['sqlite'] },
)
