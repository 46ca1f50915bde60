import Database from 'better-sqlite3'
import { expect, test } from 'vitest'

import { createLocks } from '../../src/entries/better-sqlite3.ts'
import { explore } from '../../src/entries/race.ts'

const db = new Database(':memory:')
db.exec('CREATE TABLE item (id int PRIMARY KEY, n int NOT NULL); INSERT INTO item VALUES (1, 0)')
const read = db.prepare('SELECT n FROM item WHERE id = 1')
const write = db.prepare('UPDATE item SET n = ? WHERE id = 1')
const number = (): number => (read.get() as { readonly n: number }).n

async function deposit(): Promise<void> {
  const n = number()
  await Promise.resolve()
  write.run(n + 5)
}
const deposits = (actor: () => Promise<unknown>) => ({
  db,
  reset: () => write.run(0),
  actors: { a: actor, b: actor },
  invariant: () => expect(number()).toBe(10),
})

test('an update is lost where an actor awaits between its statements', async () => {
  const { verdict, failure, isComplete, notes } = await explore(deposits(deposit))
  expect([verdict, failure?.switches, isComplete]).toEqual(['race', 1, false])
  expect(failure?.trace.map(({ actor }) => actor).join(' ')).toBe('a b a b')
  expect(notes).toEqual([expect.stringContaining('these are not all orders')])
})

test('and none under a lock of ours, nor without an await', async () => {
  const locks = createLocks(db)
  expect(await explore(deposits(() => locks.transaction(deposit)))).toMatchObject({ verdict: 'none' })
  const atOnce = async (): Promise<void> => void write.run(number() + 5)
  expect(await explore(deposits(atOnce))).toMatchObject({ verdict: 'none', completeSwitches: 0 })
  expect(Object.hasOwn(db, 'exec')).toBe(false)
})

test('a transaction that an actor leaves open is told, and ended', async () => {
  const leave = async (): Promise<void> => {
    db.exec('BEGIN')
    write.run(7)
  }
  const { failure } = await explore(deposits(leave))
  expect(failure).toMatchObject({
    outcome: 'left-open',
    reason: expect.stringContaining('a has ended and left a transaction open'),
  })
  expect([db.inTransaction, number()]).toEqual([false, 0])
})
