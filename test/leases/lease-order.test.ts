import pg from 'pg'
import { afterEach, expect, test, vi } from 'vitest'

import { sessions } from '../../src/adapters/pg.ts'
import type { Sessions } from '../../src/core/session.ts'
import { identify } from '../../src/locks/identify.ts'
import { createLeases, type Lease, type Leases } from '../../src/locks/lease/lease.ts'
import { graceMs } from '../../src/locks/lease/line.ts'
import { findDialect } from '../../src/registry.ts'
import { withDelayedAnswers } from '../adapters/delayed-answers.ts'
import { describeEngines, until, type EngineContext } from '../engines/use.ts'
import { caught, gate } from '../entries/stage.ts'
import { postgresProtocol } from '../wire/protocols.ts'
import { startProxy } from '../wire/proxy.ts'

const topic = 'holdfast_leases'
const contenders = 8
const turns = 5
const grants = contenders * turns
/** Whoever waits asks at least so often. */
const askAgainMs = 2000
const undo: (() => unknown)[] = []

afterEach(async () => {
  if (vi.isFakeTimers()) vi.runOnlyPendingTimers() // whoever lingers, leaves
  vi.useRealTimers()
  for (const step of undo.splice(0).toReversed()) await step()
})

describeEngines(specs, { only: ['postgres'] })

function specs(context: EngineContext): void {
  /** Leases as a process of its own has them; `change`: how it hears of others, `own`: told what it does. */
  function processAt(address: string, { change = inOrder, own }: ProcessOptions = {}): Leases {
    const pool = new pg.Pool({ connectionString: address, max: 4, idleTimeoutMillis: 0 })
    pool.on('error', () => {})
    undo.push(() => pool.end())
    const { listen, ...others } = withDelayedAnswers(sessions(pool), (statement) => {
      if (own !== undefined && statement.includes('INSERT INTO _leases')) own.asked += 1
    })
    return createLeases({
      sessions: { ...others, ...(listen && { listen: change(recorded(listen, own?.heard)) }) },
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

  /**
   * Eight who stand in line take the lease and give it back, again and again. Tells who had it, in order, and how many
   * requests that took. No time goes by meanwhile: however slow the machine is, nobody is passed over for being late.
   */
  async function contend(change: (listen: Listen) => Listen): Promise<{ order: number[]; queries: number }> {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const proxy = await startProxy(url(), postgresProtocol)
    undo.push(() => proxy.close())
    const name = `contended ${change.name}`
    const held = await take(processAt(url()), name)
    const { heard } = await listener()
    const everybody: Contender[] = []
    /** All have asked in vain so often and sleep, and have heard each other say so. */
    const asleep = (asked: number, said: number): Promise<void> =>
      until(
        () =>
          heard.length === said &&
          everybody.every((one) => one.asked === asked && one.heard.at(-1) === heard.at(-1)),
        `${said} times that somebody waits`,
      )
    const order: number[] = []
    const counted = gate()
    const contest = async (index: number, own: Contender): Promise<void> => {
      const leases = processAt(proxy.url, { change, own })
      for (let turn = 0; turn < turns; turn += 1) {
        const lease = await take(leases, name)
        // whoever has had its last turn tells the others, which is no part of a grant
        if (order.push(index) === grants - contenders) counted.open()
        await lease.release()
      }
    }
    const contests: Promise<void>[] = []
    for (let index = 0; index < contenders; index += 1) {
      const own: Contender = { asked: 0, heard: [] }
      everybody.push(own)
      contests.push(contest(index, own))
      await asleep(2, index + 1) // the first time it does not listen yet
      vi.advanceTimersByTime(10) // whoever comes next has waited for less
    }
    // each asks once more in vain, and so those who came later hear of it
    vi.advanceTimersByTime(askAgainMs)
    await asleep(3, 2 * contenders)
    const trips = await proxy.during(() => held.release().then(() => counted.opened))
    await Promise.all(contests)
    return { order, queries: trips.length }
  }

  test('eight who contend have it in turn, and one request of theirs is enough for each grant', async () => {
    const { order, queries } = await contend(inOrder)
    expect(order).toEqual(Array.from({ length: grants }, (_, index) => index % contenders))
    // one for the grant, and one for the release
    expect(queries).toBeLessThanOrEqual(2 * (grants - contenders))
  })

  test('it is the order that does it: when all of them are woken alike, most of them ask in vain', async () => {
    const { order, queries } = await contend(unordered)
    expect(order).toHaveLength(grants)
    expect(queries).toBeGreaterThan(4 * (grants - contenders))
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

/** How often a process has asked for a lease and was answered, and what it has heard. */
interface Contender {
  asked: number
  readonly heard: string[]
}

interface ProcessOptions {
  readonly change?: (listen: Listen) => Listen
  readonly own?: Contender
}

const inOrder = (listen: Listen): Listen => listen

/** Keeps what is heard. */
function recorded(listen: Listen, heard: string[] = []): Listen {
  return (heardTopic, wake) =>
    listen(heardTopic, (text) => {
      heard.push(text)
      wake(text)
    })
}

/** Hears of every change as of a release by somebody unknown. */
function unordered(listen: Listen): Listen {
  return (heardTopic, wake) =>
    listen(heardTopic, (text) => {
      if (text.startsWith('! ')) wake(text.split(' ').slice(2).join(' '))
      else if (!/^[?+-] /.test(text)) wake(text)
    })
}
