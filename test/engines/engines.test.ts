import { afterEach, beforeAll, expect, test } from 'vitest'

import type { Contest, Engine, EngineSession } from './engine.ts'
import { describeEngines, until, type EngineContext } from './use.ts'

const opened: EngineSession[] = []

afterEach(async () => {
  await Promise.all(opened.splice(0).map((session) => session.close()))
})

async function open(engine: Engine): Promise<EngineSession> {
  const session = await engine.open()
  opened.push(session)
  return session
}

/** A session that has begun and holds what the contest is over. */
async function holder(engine: Engine, { hold, mode }: Contest): Promise<EngineSession> {
  const session = await open(engine)
  await session.begin(mode)
  await session.run(hold)
  return session
}

/** Begins and wants what the contest is over; `ended` is how that went, `undefined` while it goes on. */
async function rival(
  engine: Engine,
  { want, mode, wantIsPlain }: Contest,
): Promise<{ session: EngineSession; ended: () => string | undefined }> {
  const session = await open(engine)
  let ended: string | undefined
  const attempt = async (): Promise<void> => {
    if (wantIsPlain !== true) await session.begin(mode)
    await session.run(want)
  }
  void attempt().then(
    () => (ended = 'succeeded'),
    () => (ended = 'refused'),
  )
  return { session, ended: () => ended }
}

describeEngines((context) => {
  beforeAll(async () => {
    const session = await context.engine.open()
    for (const statement of context.kind.sample.setUp) await session.run(statement)
    await session.close()
  })

  test('one session sees what another has committed', async () => {
    const { engine, kind } = context
    const [writer, reader] = [await open(engine), await open(engine)]
    expect(writer.id).not.toBe(reader.id)
    const before = Number((await reader.run(kind.sample.read))[0]?.n)
    await writer.begin()
    await writer.run(kind.sample.increment)
    await writer.commit()
    expect(Number((await reader.run(kind.sample.read))[0]?.n)).toBe(before + 1)
  })

  test('a rollback leaves nothing of the transaction', async () => {
    const { engine, kind } = context
    const session = await open(engine)
    const before = Number((await session.run(kind.sample.read))[0]?.n)
    await session.begin()
    await session.run(kind.sample.increment)
    await session.rollback()
    expect(Number((await session.run(kind.sample.read))[0]?.n)).toBe(before)
  })

  test('who wants what another holds is seen waiting until the other is gone, or is refused at once', async () => {
    for (const contest of context.kind.sample.contests) await contend(context, contest)
  })

  test('without the other the same statement goes through and is not seen waiting', async () => {
    const { engine, kind } = context
    for (const contest of kind.sample.contests) {
      const { session, ended } = await rival(engine, contest)
      await expectNeverWaiting(engine, session, () => ended() !== undefined)
      expect(ended(), contest.over).toBe('succeeded')
      await session.close()
    }
  })

  test('who takes what is free, over and over, is never seen waiting', async ({ skip }) => {
    const { engine, kind } = context
    if (!engine.canObserveWaiting) return skip('nobody is seen waiting on this engine')
    for (const contest of kind.sample.contests) {
      const session = await open(engine)
      let looks = 0
      const work = takeAgainAndAgain(session, contest, () => looks >= 300)
      const sights: boolean[] = []
      for (; looks < 300; looks++) sights.push(await engine.isWaiting(session))
      await work
      expect(sights, contest.over).not.toContain(true)
      await session.close()
    }
  })

  test('a session that is busy with something else is not seen waiting', async ({ skip }) => {
    const { engine, kind } = context
    const { busy } = kind.sample
    if (busy === undefined) return skip('no statement of this engine takes time without a lock')
    const session = await open(engine)
    let isDone = false
    const work = session.run(busy).finally(() => (isDone = true))
    await expectNeverWaiting(engine, session, () => isDone)
    await work
  })

  test('what a session holds is among the leftovers until the session is gone', async () => {
    const { engine, kind } = context
    for (const contest of kind.sample.contests) {
      const session = await holder(engine, contest)
      expect(await engine.leftovers(), contest.over).not.toEqual([])
      await session.close()
      await until(
        async () => (await engine.leftovers()).length === 0,
        `no leftovers after a session that held ${contest.over}`,
      )
    }
  })

  test('an open transaction that has done nothing is a leftover', async () => {
    const { engine } = context
    const session = await open(engine)
    expect(await engine.leftovers()).toEqual([])
    await session.begin()
    expect(await engine.leftovers()).toHaveLength(1)
    await session.commit()
    expect(await engine.leftovers()).toEqual([])
  })

  test('a killed session is refused its next statement and leaves nothing', async () => {
    const { engine, kind } = context
    for (const contest of kind.sample.contests) {
      const session = await holder(engine, contest)
      await engine.kill(session)
      expect(await engine.leftovers(), contest.over).toEqual([])
      await expect(session.run(kind.sample.read), contest.over).rejects.toThrow()
    }
  })
})

/** Looks again and again until it is over. */
async function expectNeverWaiting(
  engine: Engine,
  session: EngineSession,
  isOver: () => boolean,
): Promise<void> {
  await until(async () => {
    expect(await engine.isWaiting(session)).toBe(false)
    return isOver()
  }, 'its end')
}

async function takeAgainAndAgain(
  session: EngineSession,
  { want, mode, wantIsPlain }: Contest,
  isOver: () => boolean,
): Promise<void> {
  while (!isOver()) {
    if (wantIsPlain !== true) await session.begin(mode)
    await session.run(want)
    if (wantIsPlain !== true) await session.commit()
  }
}

async function contend({ engine }: EngineContext, contest: Contest): Promise<void> {
  const first = await holder(engine, contest)
  const { session, ended } = await rival(engine, contest)
  if (engine.canObserveWaiting && contest.isRefused !== true) {
    await until(() => engine.isWaiting(session), `a session that waits for ${contest.over}`)
    expect(await engine.isWaiting(first), contest.over).toBe(false)
    expect(ended(), contest.over).toBeUndefined()
    await first.close()
    await until(() => ended() !== undefined, `the end of the wait for ${contest.over}`)
    expect(ended(), contest.over).toBe('succeeded')
    expect(await engine.isWaiting(session), contest.over).toBe(false)
  } else {
    await until(() => ended() !== undefined, `an answer about ${contest.over}`)
    expect(ended(), contest.over).toBe('refused')
    await first.close()
  }
  await session.close()
}
