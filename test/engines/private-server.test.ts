import { afterEach, expect, test, type TestContext } from 'vitest'

import type { Engine } from './engine.ts'
import {
  describeEngines,
  startPrivate,
  startsServers,
  until,
  type EngineContext,
  type PrivateServer,
} from './use.ts'

const undo: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step()
})

/** A server of its own with the sample's table in it. */
async function prepare(
  { name, kind }: EngineContext,
  skip: TestContext['skip'],
): Promise<[PrivateServer, Engine]> {
  const server = await startPrivate(name)
  if ('unavailable' in server) return skip(server.unavailable)
  undo.push(server.stop)
  const engine = await kind.connect(server.server)
  const session = await engine.open()
  for (const statement of kind.sample.setUp) await session.run(statement)
  await session.close()
  return [server, engine]
}

describeEngines((context) => {
  test('a frozen server answers nothing, and answers when it is thawed', startsServers, async ({ skip }) => {
    const [server, engine] = await prepare(context, skip)
    const session = await engine.open()
    undo.push(session.close)
    await server.freeze()
    let hasAnswered = false
    const answer = session.run(context.kind.sample.read).finally(() => (hasAnswered = true))
    await expect(until(() => hasAnswered, 'an answer', 500)).rejects.toThrow('not seen')
    await server.thaw()
    expect(Number((await answer)[0]?.n)).toBe(0)
  })

  test(
    'a server keeps its data over a restart, and breaks every connection',
    startsServers,
    async ({ skip }) => {
      const [server, engine] = await prepare(context, skip)
      const { increment, read } = context.kind.sample
      const before = await engine.open()
      undo.push(before.close)
      await before.run(increment)
      await server.restart()
      await expect(before.run(read)).rejects.toThrow()
      const after = await engine.open()
      undo.push(after.close)
      expect(Number((await after.run(read))[0]?.n)).toBe(1)
      expect(await engine.leftovers()).toEqual([])
    },
  )

  test('a private server is not the one that the other tests share', startsServers, async ({ skip }) => {
    const [{ server }] = await prepare(context, skip)
    expect(server.url).not.toBe(context.server.url)
  })
})
