import { expect, test } from 'vitest'

import { emit } from '../../src/emit.ts'
import { canonicalKey } from '../../src/core/key.ts'
import type { LeaseHeld } from '../../src/dialects/lease.ts'
import { registry, type DialectName } from '../../src/registry.ts'
import type { EngineSession } from '../engines/engine.ts'
import { describeEngines, until } from '../engines/use.ts'
import { contests, send, type Contest } from './contest.ts'
import { leaseRow } from './lease-rows.ts'

describeEngines((context) => {
  const contest = contests(context)
  const { writeMode } = registry[context.name as DialectName].transaction

  async function guarded(subject: Contest, held: LeaseHeld): Promise<EngineSession> {
    const session = await subject.open()
    await session.begin(writeMode)
    expect((await send(session, [subject.lease.guard(held)])).answer).toBe('granted')
    return session
  }

  test.each(['commit', 'rollback'] as const)(
    'a guarded transaction keeps a takeover out until its %s',
    async (end) => {
      const subject = await contest()
      const held = await subject.granted()
      await (await guarded(subject, held)).commit() // not only the first one guards
      await subject.row.expire()
      const holder = await guarded(subject, held)
      const other = await subject.open()
      const claim = subject.acquire({ session: other })
      if (context.engine.canObserveWaiting) {
        await until(() => context.engine.isWaiting(other), 'the takeover waits')
        await holder[end]()
        expect((await claim).answer).toBe('granted')
      } else {
        expect((await claim).answer).toBe('conflict')
        await holder[end]()
        await subject.granted({ session: other })
      }
    },
  )

  test('of two who wait for the end of a guarded transaction, only one takes the lease over', async () => {
    if (!context.engine.canObserveWaiting) return // nobody waits
    const subject = await contest()
    const held = await subject.granted()
    await subject.row.expire()
    const holder = await guarded(subject, held)
    const others = [await subject.open(), await subject.open()]
    const claims = others.map((session) => subject.acquire({ session }))
    for (const other of others) await until(() => context.engine.isWaiting(other), 'each takeover waits')
    await holder.commit()
    const answers = (await Promise.all(claims)).map(({ answer }) => answer)
    expect(answers.toSorted()).toEqual(['busy', 'granted'])
  })

  test('it is the guard that keeps it out: without it the takeover goes through', async () => {
    const subject = await contest()
    await subject.granted()
    await subject.row.expire()
    const holder = await subject.open()
    await holder.begin()
    await subject.granted({ session: await subject.open() })
    await holder.rollback()
  })

  test('a guard refuses who is no longer the holder', async () => {
    const subject = await contest()
    const stale = await subject.granted()
    await subject.row.expire()
    const held = await subject.granted()
    const before = await subject.row.read()
    const session = await subject.open()
    for (const wrong of [stale, { ...held, fence: stale.fence }, { ...held, owner: stale.owner }]) {
      await session.begin(writeMode)
      expect((await send(session, [subject.lease.guard(wrong)])).answer).toBe('not-held')
      await session.rollback()
    }
    expect(await subject.row.read()).toEqual(before)
    await subject.release(held)
    await session.begin(writeMode)
    expect((await send(session, [subject.lease.guard(held)])).answer).toBe('not-held')
    await session.rollback()
  })

  test('a guard does not believe an old snapshot', async () => {
    if (writeMode !== undefined) return // the transaction is the only one that writes
    const subject = await contest()
    const stale = await subject.granted()
    await subject.row.expire()
    const session = await subject.open()
    await session.begin()
    await leaseRow(context.name, session, subject.name).read() // takes the snapshot
    await subject.granted()
    expect((await send(session, [subject.lease.guard(stale)])).answer).not.toBe('granted')
    await session.rollback().catch(() => {}) // the server may have ended it
  })

  test('while a guarded transaction is open, a lease that has not expired is busy at once', async () => {
    if (writeMode !== undefined) return // every other writer is turned away
    const subject = await contest()
    const holder = await guarded(subject, await subject.granted())
    const other = await subject.open()
    expect((await subject.acquire({ session: other })).answer).toBe('busy')
    await holder.commit()
  })

  test('a renewal passes a guarded transaction or waits for it, and both come true', async () => {
    const subject = await contest()
    const held = await subject.granted()
    const holder = await guarded(subject, held)
    const other = await subject.open()
    const renewal = send(other, subject.lease.renew(held, 60_000))
    if (passesGuard.includes(context.name)) expect((await renewal).answer).toBe('granted')
    else if (context.engine.canObserveWaiting) await until(() => context.engine.isWaiting(other), 'it waits')
    else expect((await renewal).answer).toBe('conflict')
    await holder.commit()
    if (context.engine.canObserveWaiting) expect((await renewal).answer).toBe('granted')
    expect(await subject.renew(held)).toBe('granted')
  })

  test('a lease released under a guarded transaction is nobody else’s before that ends', async () => {
    const subject = await contest()
    const held = await subject.granted()
    const holder = await guarded(subject, held)
    const other = await subject.open()
    const next = send(other, subject.lease.release(held, 0)).then(() => subject.acquire({ session: other }))
    if (context.engine.canObserveWaiting) {
      await until(() => context.engine.isWaiting(other), 'the release or the next claim waits')
      await holder.commit()
      expect((await next).answer).toBe('granted')
    } else {
      expect((await next).answer).not.toBe('granted')
      await holder.commit()
    }
  })
})

/** Where owner and fence can be locked apart from the time. */
const passesGuard = ['postgres', 'mysql', 'mariadb']

describeEngines(
  (context) => {
    const contest = contests(context)
    const dialect = context.name as DialectName
    const { writeMode } = registry[dialect].transaction

    async function inTransaction(
      subject: Contest,
      key: string,
    ): Promise<{ session: EngineSession; answer: string }> {
      const plan = emit(dialect, 'advisory', { key, wait: 'nowait' })
      const session = await subject.open()
      for (const statement of plan.needs) await session.run(statement)
      await session.begin(plan.begin)
      return { session, answer: (await send(session, plan.inTransaction)).answer }
    }

    const lockOf = (key: string): { readonly name: string } => ({ name: canonicalKey(key).name })

    test('a named lock of a transaction and one of a session exclude each other', async () => {
      const subject = await contest()
      const held = await subject.granted(lockOf('both'))
      const refused = await inTransaction(subject, 'both')
      expect(refused.answer).toBe('busy')
      await refused.session.rollback()
      await subject.release(held)
      const holder = await inTransaction(subject, 'both')
      expect(holder.answer).toBe('granted')
      const other = await subject.open()
      const claim = subject.acquire({ ...lockOf('both'), session: other })
      if (context.engine.canObserveWaiting)
        await until(() => context.engine.isWaiting(other), 'the claim waits')
      else expect((await claim).answer).toBe('conflict')
      await holder.session.commit()
      if (context.engine.canObserveWaiting) expect((await claim).answer).toBe('granted')
    })

    test('an expired lock that a transaction has taken is not renewed, neither during nor after', async () => {
      const subject = await contest()
      const held = await subject.granted({ ...lockOf('late'), ttlMs: 1 })
      const taking = async (): Promise<EngineSession | undefined> => {
        const { session, answer } = await inTransaction(subject, 'late')
        if (answer === 'granted') return session
        await session.rollback()
        return undefined
      }
      let holder: EngineSession | undefined
      await until(async () => (holder = await taking()) !== undefined, 'the lock has expired')
      const other = await subject.open()
      const renewal = send(other, subject.lease.renew(held, 60_000))
      if (context.engine.canObserveWaiting)
        await until(() => context.engine.isWaiting(other), 'the renewal waits')
      else expect((await renewal).answer).toBe('conflict')
      await holder?.commit()
      if (context.engine.canObserveWaiting) expect((await renewal).answer).toBe('not-held')
      expect(await subject.renew(held)).toBe('not-held')
    })

    test('two transactions that take a name at once are not both granted it', async () => {
      const subject = await contest()
      const first = await inTransaction(subject, 'twice')
      expect(first.answer).toBe('granted')
      const second = await inTransaction(subject, 'twice').catch(() => undefined)
      expect(second?.answer).not.toBe('granted')
      expect(writeMode === undefined || second === undefined).toBe(true)
      await first.session.commit()
    })
  },
  { only: ['sqlite', 'duckdb', 'mongodb'] },
)
