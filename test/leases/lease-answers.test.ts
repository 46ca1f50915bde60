import { expect, test } from 'vitest'

import { marginMs } from '../../src/locks/lease/validity.ts'
import { brokenConnection, steps } from '../adapters/delayed-answers.ts'
import { until } from '../engines/use.ts'
import { caught, gate } from '../entries/stage.ts'
import { describeLeases, take } from './lease-stage.ts'

/** What is done to the answers of requests about leases; nothing at first. */
interface Network {
  happens: () => Promise<void> | void
}

const servers = ['postgres', 'mysql', 'mariadb']
const longMs = 600_000

/** MongoDB's index is made behind the first lease's back, at any time. */
function isOfLease(statement: string): boolean {
  return statement.includes('_leases') && !statement.includes('createIndexes')
}

describeLeases((stage) => {
  const processBehind = (network: Network): ReturnType<typeof stage.process> =>
    stage.process({
      onAnswer: (statement) => (isOfLease(statement) ? network.happens() : undefined),
    })
  /** Until when a lease is relied on at most, by the monotonic clock. */
  const endOf = (lease: { readonly remainingMs: () => number }): number => {
    const now = performance.now()
    return now + lease.remainingMs()
  }
  /** Holds the answers back for a while, and says when the server had given the last of them. */
  const slow = (network: Network): { readonly answeredAt: () => number } => {
    let answeredAt = 0
    network.happens = async () => {
      answeredAt = performance.now()
      await until(() => performance.now() > answeredAt + 100, 'a later moment')
    }
    return { answeredAt: () => answeredAt }
  }

  test('a lease counts from its request, however late the answer comes', async () => {
    const network: Network = { happens: () => {} }
    const leases = processBehind(network)
    await (await take(leases, stage.fresh())).release() // makes the table
    const { answeredAt } = slow(network)
    const lease = await take(leases, stage.fresh(), { ttlMs: longMs, renew: false })
    expect(endOf(lease)).toBeLessThanOrEqual(answeredAt() + longMs - marginMs(longMs))
    await lease.extend(2 * longMs)
    expect(endOf(lease)).toBeLessThanOrEqual(answeredAt() + 2 * longMs - marginMs(longMs))
    network.happens = () => {}
  })

  test('a shorter extension counts as soon as it is sent, since its answer may get lost', async () => {
    const network: Network = { happens: () => {} }
    const lease = await take(processBehind(network), stage.fresh(), { ttlMs: longMs, renew: false })
    const [arrived, answer] = [gate(), gate()]
    network.happens = () => {
      arrived.open()
      return answer.opened
    }
    const extending = caught(lease.extend(60_000))
    await arrived.opened
    expect(lease.remainingMs()).toBeLessThanOrEqual(60_000)
    network.happens = () => {}
    answer.open()
    expect(await extending).toBe('no error')
  })

  test('a lease that is granted as the wait is aborted is given back', async () => {
    for (let count = 0; count < 40; count += 1) {
      const network: Network = { happens: () => {} }
      const aborting = new AbortController()
      const reason = new Error('no longer wanted')
      const name = stage.fresh()
      const leases = processBehind(network)
      await (await take(leases, stage.fresh())).release() // makes the table
      network.happens = () => void steps(count).then(() => aborting.abort(reason))
      const taken = await caught(take(leases, name, { ttlMs: longMs, signal: aborting.signal }))
      network.happens = () => {}
      if (taken === 'no error') return // it was held before anybody aborted
      expect(taken).toBe(reason)
      await until(async () => (await stage.row(name))?.owner === null, `a lease without an owner (${count})`)
    }
  })

  test('also where no connection can be had for that at first', async () => {
    const aborting = new AbortController()
    const reason = new Error('no longer wanted')
    let refusals = 0
    const leases = stage.process({
      onOpen: () => {
        if (aborting.signal.aborted && (refusals += 1) <= 5) throw brokenConnection()
      },
      onAnswer: (statement) => (isOfLease(statement) ? aborting.abort(reason) : undefined),
    })
    const name = stage.fresh()
    await (await take(stage.process(), stage.fresh())).release() // makes the table
    expect(await caught(take(leases, name, { ttlMs: longMs, signal: aborting.signal }))).toBe(reason)
    await until(async () => (await stage.row(name))?.owner === null, 'a lease without an owner')
    expect(refusals).toBeGreaterThan(5)
  })
})

describeLeases((stage) => {
  const broken = async (lose: () => Promise<void>): Promise<void> => {
    const network: Network = { happens: () => {} }
    const leases = stage.process({ onAnswer: () => network.happens() })
    const lease = await take(leases, stage.fresh(), { ttlMs: longMs, renew: false })
    network.happens = () => {
      network.happens = () => {}
      return lose()
    }
    await caught(lease.extend(6000))
    await caught(lease.extend(longMs))
    // the first request may be done only now
    expect(lease.remainingMs()).toBeLessThanOrEqual(6000)
  }

  test('a request that was lost limits what is confirmed after it', async () => {
    await broken(() => Promise.reject(brokenConnection()))
  })

  test('so does one that was never answered', async () => {
    const ending = gate()
    await broken(() => ending.opened).finally(ending.open)
  })
}, servers)
