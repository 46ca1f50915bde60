import { describe, expect, test, vi } from 'vitest'

import { registry } from '../../src/registry.ts'
import { describeEngines, until } from '../engines/use.ts'
import { contests, send, type Contest } from './contest.ts'

const contenders = 20

describeEngines((context) => {
  const contest = contests(context)

  /** How many of many claims at once are granted. Each is on a connection of its own. */
  async function race(subject: Contest, nameOf: (index: number) => string): Promise<number> {
    const sessions = await Promise.all(Array.from({ length: contenders }, subject.open))
    const claims = sessions.map((session, index) => subject.acquire({ session, name: nameOf(index) }))
    const answers = (await Promise.all(claims)).map(({ answer }) => answer)
    expect(answers.filter((answer) => !['granted', 'busy', 'conflict'].includes(answer))).toEqual([])
    return answers.filter((answer) => answer === 'granted').length
  }

  test('of twenty who claim a new lease at once, exactly one is granted it', async () => {
    const subject = await contest()
    expect(await race(subject, () => subject.name)).toBe(1)
  })

  test('of twenty who claim an expired lease at once, exactly one is granted it', async () => {
    const subject = await contest()
    await subject.granted()
    await subject.row.expire()
    expect(await race(subject, () => subject.name)).toBe(1)
  })

  test('it is the name that keeps them apart: twenty names are granted to those who asked without a conflict', async () => {
    const subject = await contest()
    const granted = await race(subject, (index) => `${subject.name.slice(0, 40)}${index}`)
    expect(granted).toBe(contenders)
  })

  test('a lease is busy while it is held, renewed or not, and the vain claim changes nothing', async () => {
    const subject = await contest()
    const held = await subject.granted()
    const before = await subject.row.read()
    expect((await subject.acquire()).answer).toBe('busy')
    expect(await subject.row.read()).toEqual(before)
    expect(await subject.renew(held)).toBe('granted')
    expect((await subject.acquire()).answer).toBe('busy')
  })

  test('a lease is taken over when its time has passed, and not before', async () => {
    const long = await contest()
    await long.granted({ ttlMs: 600_000 })
    expect((await long.acquire()).answer).toBe('busy')
    const short = await contest()
    const before = performance.now()
    const ttlMs = 300
    await short.granted({ ttlMs })
    await until(async () => (await short.acquire()).answer === 'granted', 'the lease is taken over')
    // half of it: the server's clock is another one than ours, and may be coarser
    expect(performance.now() - before).toBeGreaterThan(ttlMs / 2)
  })

  test('the fence rises with every grant: after a release, a takeover, and the deletion of the row', async () => {
    const subject = await contest()
    const first = await subject.granted()
    expect(first.fence).toBeGreaterThan(Date.UTC(2020))
    expect(await subject.release(first)).toBe('released')
    const second = await subject.granted()
    await subject.row.expire()
    const third = await subject.granted()
    // the server's clock may be a little behind ours, and coarser
    await until(() => Date.now() > third.fence + 200, 'the clock has passed the last fence')
    await subject.row.remove()
    const fourth = await subject.granted()
    const fences = [first, second, third, fourth].map(({ fence }) => fence)
    expect(fences).toEqual([...new Set(fences)].toSorted((a, b) => a - b))
  })

  test('the fence rises also when the clock has gone back', async () => {
    const subject = await contest()
    await subject.granted()
    const ahead = Date.now() + 86_400_000
    await subject.row.setFence(ahead)
    await subject.row.expire()
    expect((await subject.granted()).fence).toBe(ahead + 1)
  })

  test('an owner whose lease was taken over can neither renew nor release it, and changes nothing', async () => {
    const subject = await contest()
    const stale = await subject.granted()
    await subject.row.expire()
    const held = await subject.granted()
    const before = await subject.row.read()
    expect(await subject.renew(stale)).toBe('not-held')
    expect(await subject.release(stale)).toBe('not-held')
    expect(await subject.renew({ ...held, fence: stale.fence })).toBe('not-held')
    expect(await subject.release({ ...held, fence: stale.fence })).toBe('not-held')
    expect(await subject.row.read()).toEqual(before)
    expect(await subject.renew(held)).toBe('granted')
  })

  test('a lease that was released, or whose row was deleted, is nobody else’s to renew or release', async () => {
    const subject = await contest()
    const held = await subject.granted()
    expect(await subject.release(held)).toBe('released')
    expect(await subject.release(held)).toBe('not-held')
    expect(await subject.renew(held)).toBe('not-held')
    const again = await subject.granted()
    await subject.row.remove()
    expect(await subject.renew(again)).toBe('not-held')
    expect(await subject.release(again)).toBe('not-held')
  })

  test('an owner who comes late but before anybody else gets the lease back', async () => {
    const subject = await contest()
    const held = await subject.granted()
    await subject.row.expire()
    expect(await subject.renew(held)).toBe('granted')
    expect((await subject.acquire()).answer).toBe('busy')
  })

  test('a renewal counts from now, to a later or an earlier end', async () => {
    const subject = await contest()
    const held = await subject.granted({ ttlMs: 60_000 })
    expect(await subject.renew(held, 200)).toBe('granted')
    await until(async () => (await subject.acquire()).answer === 'granted', 'the renewed lease has ended')
  })

  test('a released lease can be had at once, or not before the time for which it was to be kept', async () => {
    const subject = await contest()
    expect(await subject.release(await subject.granted())).toBe('released')
    expect(await subject.release(await subject.granted(), 60_000)).toBe('released')
    expect((await subject.acquire()).answer).toBe('busy')
    expect((await subject.row.read())?.owner ?? null).toBeNull()
    await subject.row.expire()
    await subject.release(await subject.granted(), 200)
    await until(async () => (await subject.acquire()).answer === 'granted', 'the time is over')
  })

  test('the longest names and owners, and owners that look like code, are kept as they are', async () => {
    const { lease, open } = await contest()
    const session = await open()
    const name = `hl:${'n'.repeat(61)}`
    for (const owner of ['o'.repeat(128), '$owner', 'it\'s \\ "quoted" ${x}', 'Große Straße', '*', 'none']) {
      const { answer, row } = await send(session, lease.acquire({ name, owner, ttlMs: 60_000 }))
      expect([owner, answer]).toEqual([owner, 'granted'])
      expect((await send(session, lease.acquire({ name, owner: 'other', ttlMs: 1 }))).answer).toBe('busy')
      const held = { name, owner, fence: Number(row?.fence) }
      expect((await send(session, lease.renew({ ...held, owner: owner.toUpperCase() }, 1))).answer).toBe(
        owner === owner.toUpperCase() ? 'granted' : 'not-held',
      )
      expect((await send(session, lease.release(held, 0))).answer).toBe('released')
    }
  })
})

describe.each(Object.entries(registry))('the statements of %s', (_, { lease }) => {
  test('know nothing of the client’s clock', () => {
    const claim = { name: 'hl:x', owner: 'o', ttlMs: 5 }
    const held = { name: 'hl:x', owner: 'o', fence: 7 }
    const all = (): readonly unknown[] => [
      lease.acquire(claim),
      lease.renew(held, 5),
      lease.release(held, 5),
      lease.guard(held),
    ]
    const today = JSON.stringify(all())
    vi.useFakeTimers({ now: Date.now() + 86_400_000 })
    try {
      expect(JSON.stringify(all())).toBe(today)
    } finally {
      vi.useRealTimers()
    }
  })
})
