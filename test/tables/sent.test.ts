import { expect, test } from 'vitest'

import { tapOf } from '../docs/taps/taps.ts'
import { mysqlProtocol, postgresProtocol } from '../wire/protocols.ts'
import { startProxy } from '../wire/proxy.ts'
import { addTo, describeWays, type Way } from './ways.ts'

/** Named in the wrong order. */
const tables = [{ table: 'bb', mode: 'shared' }, 'aa'] as const

const protocols: Readonly<Record<string, typeof mysqlProtocol>> = {
  postgres: postgresProtocol,
  mysql: mysqlProtocol,
  mariadb: mysqlProtocol,
}

/** What begins and ends the transaction, of all that is said on its connection. */
const told =
  /^(?:BEGIN|START|COMMIT|ROLLBACK|(?:UN)?LOCK|SET (?:autocommit|LOCAL|TRANSACTION)|DO \()|^SELECT (?:pg_current_xact_id|txid_current)/i

/** Everything that one transaction sends, a statement in each line. */
async function sentBy(way: Way): Promise<readonly string[]> {
  const protocol = protocols[way.context.name]
  if (protocol === undefined) return tapped(way)
  const proxy = await startProxy(way.context.engine.server.url, protocol)
  try {
    const work = await transactionOn(way, proxy.url)
    return statementsIn(await proxy.during(work))
  } finally {
    await proxy.close()
  }
}

async function tapped(way: Way): Promise<readonly string[]> {
  const tap = await tapOf('sqlite')
  const work = await transactionOn(way)
  const sent: string[] = []
  tap?.listen((statement) => typeof statement === 'string' && sent.push(statement))
  await work()
  tap?.listen(() => {})
  return statementsIn(sent)
}

/** A transaction on a connection that is open by then. */
async function transactionOn(way: Way, url?: string): Promise<() => Promise<unknown>> {
  const client = await way.open(1, url)
  await client.locks.transaction(async () => {})
  return () => client.locks.transaction((tx) => addTo(client, tx, 'aa'), { tables })
}

function statementsIn(trips: readonly string[]): readonly string[] {
  return (
    trips
      .flatMap((trip) => trip.split(';'))
      // postgres.js says its messages in a buffer that is longer
      .map((statement) => statement.replaceAll('\0', '').trim())
      .filter((statement) => told.test(statement))
  )
}

const number = expect.stringMatching(/^SELECT (?:pg_current_xact_id|txid_current)/)

const expected: Readonly<Record<string, readonly unknown[]>> = {
  postgres: [
    expect.stringMatching(/^BEGIN$/i),
    'LOCK TABLE "aa" IN EXCLUSIVE MODE',
    'LOCK TABLE "bb" IN SHARE MODE',
    // behind the locks: it is the transaction's first read
    number,
    expect.stringMatching(/^COMMIT$/i),
  ],
  mysql: [
    'SET autocommit = 0',
    'LOCK TABLES `aa` WRITE, `bb` READ',
    'COMMIT',
    'SET autocommit = 1',
    'UNLOCK TABLES',
  ],
  sqlite: ['BEGIN EXCLUSIVE', 'COMMIT'],
}

describeWays(
  (way) => {
    test('the tables are locked first thing, in one order, and nothing else begins the transaction', async () => {
      const { name } = way.context
      expect(await sentBy(way)).toEqual(expected[name === 'mariadb' ? 'mysql' : name])
    })
  },
  ['postgres', 'mysql', 'mariadb', 'sqlite'],
)
