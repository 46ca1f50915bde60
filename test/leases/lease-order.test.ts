import pg from 'pg'
import { afterEach, expect, test } from 'vitest'

import { sessions } from '../../src/adapters/pg/sessions.ts'
import type { Sessions } from '../../src/core/session.ts'
import { identify } from '../../src/locks/identify.ts'
import { createLeases, type Lease, type Leases } from '../../src/locks/lease/lease.ts'
import { graceMs } from '../../src/locks/lease/line.ts'
import { findDialect } from '../../src/registry.ts'
import { describeEngines, until, type EngineContext } from '../engines/use.ts'
import { caught } from '../entries/stage.ts'
import { postgresProtocol } from '../wire/protocols.ts'
import { startProxy } from '../wire/proxy.ts'

const topic = 'holdfast_leases'
const undo: (() => unknown)[] = []

afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step()
})

describeEngines(specs, { only: ['postgres'] })

function specs(context: EngineContext): void {
  /** Leases as a process of its own has them, and how it hears of others. */
  function processAt(url: string, change: (listen: Listen) => Listen = (listen) => listen): Leases {
    const pool = new pg.Pool({ connectionString: url, max: 4 })
    pool.on('error', () => {})
    undo.push(() => pool.end())
    const { listen, ...others } = sessions(pool)
    return createLeases({
      sessions: { ...others, ...(listen && { listen: change(listen) }) },
      server: identify({ dialects: [findDialect('postgres')], version: undefined }),
    })
  }

  const url = (): string => context.engine.server.url

  async function listener(): Promise<{ client: pg.Client; heard: string[] }> {
    const client = new pg.Client({ connectionString: url() })
    client.on('error', () => {})
    await client.connect()
    undo.push(() => client.end())
    const heard: string[] = []
    client.on('notification', ({ payload = '' }) => heard.push(payload))
    await client.query(`LISTEN ${topic}`)
    return { client, heard }
  }

  const take = (leases: Leases, name: string): Promise<Lease> => leases.take({ key: name, name })

  /** Eight take the lease and give it back, again and again. Counts once each has had it a few times. */
  async function contend(
    change?: (listen: Listen) => Listen,
  ): Promise<{ queries: number; fairness: number }> {
    const proxy = await startProxy(url(), postgresProtocol)
    undo.push(() => proxy.close())
    const name = `contended ${undo.length}${change === undefined ? '' : ' out of order'}`
    const grants = Array.from({ length: 8 }, () => 0)
    let isOver = false
    const contests = grants.map(async (_, index) => {
      const leases = processAt(proxy.url, change)
      while (!isOver) {
        const lease = await take(leases, name)
        grants[index] = (grants[index] ?? 0) + 1
        await lease.release()
      }
    })
    const sum = (): number => grants.reduce((all, own) => all + own, 0)
    // a connection can take longer than a hundred grants to those who have theirs
    await until(() => Math.min(...grants) >= 5, 'the first grants of each')
    const before = [...grants]
    const begun = sum()
    const trips = await proxy.during(() => until(() => sum() >= begun + 400, 'many grants'))
    const own = grants.map((count, index) => count - (before[index] ?? 0))
    const queries = trips.length / (sum() - begun)
    isOver = true
    await Promise.all(contests)
    return { queries, fairness: Math.min(...own) / Math.max(...own) }
  }

  test('eight who contend have it in turn, and one request of theirs is enough for each grant', async () => {
    const { queries, fairness } = await contend()
    expect(fairness).toBeGreaterThanOrEqual(0.8)
    // one for the grant, and one for the release
    expect(queries).toBeLessThan(2.5)
  })

  test('it is the order that does it: when all of them are woken alike, most of them ask in vain', async () => {
    const { queries, fairness } = await contend(unordered)
    expect(queries).toBeGreaterThan(4)
    expect(fairness).toBeLessThan(1)
  })

  test('one who stands first and is dead holds up the others for its time, and then they go on', async () => {
    const name = 'behind a dead one'
    const { client, heard } = await listener()
    const held = await take(processAt(url()), name)
    const waiting = take(processAt(url()), name)
    await until(() => heard.some((text) => text.startsWith('? ')), 'a waiter')
    await client.query('SELECT pg_notify($1, $2)', [topic, `? dead 60000 ${name}`])
    await until(() => heard.includes(`? dead 60000 ${name}`), 'the dead one')
    const released = performance.now()
    await held.release()
    const next = await waiting
    const tookMs = performance.now() - released
    expect(tookMs).toBeGreaterThanOrEqual(graceMs - 10)
    await next.release()
  })

  test('messages that lie give nobody a lease', async () => {
    const name = 'lied about'
    const { client, heard } = await listener()
    const held = await take(processAt(url()), name)
    const giveUp = new AbortController()
    const waiting = caught(processAt(url()).take({ key: name, name, options: { signal: giveUp.signal } }))
    const waiter = (): string | undefined => heard.find((text) => text.startsWith('? '))?.split(' ')[1]
    await until(() => waiter() !== undefined, 'a waiter')
    for (const text of [
      `+ ${waiter()} ${name}`,
      `! ${waiter()} ${name}`,
      `- ${waiter()} ${name}`,
      name,
      '',
    ]) {
      const before = heard.length
      await client.query('SELECT pg_notify($1, $2)', [topic, text])
      await until(() => heard.length > before, 'the lie')
    }
    await until(() => heard.filter((text) => text.startsWith('? ')).length >= 2, 'a request in vain')
    held.throwIfLost()
    await held.extend()
    giveUp.abort(new Error('enough'))
    expect(await waiting).toMatchObject({ message: 'enough' })
  })

  test('whoever gives up waiting lets the next one pass', async () => {
    const name = 'given up'
    const { heard } = await listener()
    const held = await take(processAt(url()), name)
    const giveUp = new AbortController()
    const impatient = caught(processAt(url()).take({ key: name, name, options: { signal: giveUp.signal } }))
    await until(() => heard.some((text) => text.startsWith('? ')), 'a waiter')
    const waiting = take(processAt(url()), name)
    await until(() => heard.filter((text) => text.startsWith('? ')).length >= 2, 'two waiters')
    giveUp.abort(new Error('no longer needed'))
    expect(await impatient).toMatchObject({ message: 'no longer needed' })
    await until(() => heard.some((text) => text.startsWith('- ')), 'one who leaves')
    await held.release()
    await (await waiting).release()
  })
}

type Listen = NonNullable<Sessions['listen']>

/** Hears of every change as of a release by somebody unknown. */
function unordered(listen: Listen): Listen {
  return (heardTopic, wake) =>
    listen(heardTopic, (text) => {
      if (text.startsWith('! ')) wake(text.split(' ').slice(2).join(' '))
      else if (!/^[?+-] /.test(text)) wake(text)
    })
}
