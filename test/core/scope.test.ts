import { setImmediate as nextRound } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, expect, test } from 'vitest'

import type { OpenTransaction } from '../../src/locks/port.ts'
import { createScope } from '../../src/locks/transaction/scope.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const timers: NodeJS.Timeout[] = []

afterEach(() => {
  for (const timer of timers.splice(0)) clearInterval(timer)
})

function transactionOf(tx: object): OpenTransaction<object> {
  return { session: { tx } } as OpenTransaction<object>
}

/** Something that the work starts and that goes on after it, for ever. */
function startTimer(): void {
  timers.push(setInterval(() => {}, 60_000).unref())
}

/** Whether the transaction is gone once its work has ended, and has left something behind that goes on. */
async function isForgotten(leaves: boolean): Promise<boolean> {
  const scope = createScope<object>()
  const tx = {}
  const enter = async (): Promise<WeakRef<object>> => {
    const transaction = transactionOf(tx)
    await scope.enter(transaction, async () => startTimer())
    if (leaves) scope.leave(transaction)
    return new WeakRef(transaction)
  }
  const seen = await enter()
  for (let rounds = 0; rounds < 20 && seen.deref() !== undefined; rounds += 1) {
    await nextRound() // a WeakRef holds what it has shown until the round ends
    collectGarbage()
  }
  return seen.deref() === undefined
}

test('work is inside while its transaction is open, and outside again when it outlives it', async () => {
  const scope = createScope<object>()
  const transaction = transactionOf({})
  let look: () => unknown = () => expect.unreachable()
  const later = scope.enter(transaction, async () => {
    expect(scope.current()).toBe(transaction)
    await new Promise<void>((resolve) => (look = resolve))
    return scope.current()
  })
  expect(scope.current()).toBeUndefined()
  expect(scope.find(transaction.session.tx)).toBe(transaction)
  scope.leave(transaction)
  look()
  expect(await later).toBeUndefined()
  expect(() => scope.find(transaction.session.tx)).toThrow(/not an open transaction/)
})

test('whoever leaves late does not end the next transaction on the same connection', async () => {
  const scope = createScope<object>()
  const tx = {}
  const [first, second] = [transactionOf(tx), transactionOf(tx)]
  await scope.enter(first, async () => {})
  await scope.enter(second, async () => {})
  scope.leave(first)
  expect(scope.find(tx)).toBe(second)
})

test('what the work has started and left behind does not keep its transaction', async () => {
  expect(await isForgotten(true)).toBe(true)
  expect(await isForgotten(false)).toBe(false)
})
