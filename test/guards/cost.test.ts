import { afterEach, expect, test } from 'vitest'

import { describeEngines, type EngineContext } from '../engines/use.ts'
import { mysqlProtocol, postgresProtocol, type Protocol } from '../wire/protocols.ts'
import { startProxy } from '../wire/proxy.ts'
import { throughKysely, throughMysql2, throughPg, type Guarded } from './stage.ts'

const undo: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step()
})

/** The round trips of the first check and of the second, each as what was asked in it. */
async function tripsOf(
  { engine }: EngineContext,
  protocol: Protocol,
  connect: (url: string) => Guarded,
): Promise<readonly (readonly string[])[]> {
  const proxy = await startProxy(engine.server.url, protocol)
  undo.push(proxy.close)
  const { sessions, check, close } = connect(proxy.url)
  undo.push(close)
  await (await sessions.open()).release() // logs in
  return [await proxy.during(check), await proxy.during(check)]
}

describeEngines(
  (context) => {
    test('the check costs one round trip through pg, once', async () => {
      const [first, second] = await tripsOf(context, postgresProtocol, throughPg)
      expect(first).toEqual([expect.stringContaining('pg_try_advisory_lock')])
      expect(second).toEqual([])
    })

    test('the check costs ten through Kysely, which does not tell the number of the server, once', async () => {
      const [first, second] = await tripsOf(context, postgresProtocol, throughKysely)
      const ask = expect.stringMatching(/^SELECT pg_backend_pid/)
      const [begin, rollback] = [
        expect.stringMatching(/^BEGIN; SELECT pg_backend_pid/),
        expect.stringMatching(/^rollback$/i),
      ]
      const meanwhile = [begin, ask, rollback]
      expect(first).toEqual([
        expect.stringContaining('pg_try_advisory_lock'),
        ...meanwhile,
        begin,
        rollback,
        ask,
        ...meanwhile,
      ])
      expect(second).toEqual([])
    })
  },
  { only: ['postgres'] },
)

describeEngines(
  (context) => {
    test('the check costs one round trip, once', async () => {
      const dialect = context.name as 'mysql' | 'mariadb'
      const [first, second] = await tripsOf(context, mysqlProtocol, (url) => throughMysql2(url, dialect))
      // mysql2's sessions set up each connection before it is used
      expect(first?.filter((asked) => asked.startsWith('SHOW'))).toHaveLength(1)
      expect(second?.length).toBe((first?.length ?? 0) - 1)
    })
  },
  { only: ['mysql', 'mariadb'] },
)
