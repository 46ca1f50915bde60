import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate as nextRound } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, expect, test, vi } from 'vitest'

import type { OpenTransaction } from '../../src/locks/port.ts'
import { createScope } from '../../src/locks/transaction/scope.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const timers: NodeJS.Timeout[] = []

afterEach(() => {
  vi.restoreAllMocks()
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
  return (await keptOf([await enter()])) === 0
}

/** How many are left when garbage was collected again and again. */
async function keptOf(seen: readonly WeakRef<object>[]): Promise<number> {
  const kept = (): number => seen.filter((one) => one.deref() !== undefined).length
  for (let rounds = 0; rounds < 20 && kept() > 0; rounds += 1) {
    await nextRound() // a WeakRef holds what it has shown until the round ends
    collectGarbage()
  }
  return kept()
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

test('work is inside the transactions of several locks at once, each its own', async () => {
  const [one, other] = [createScope<object>(), createScope<object>()]
  const [outer, inner] = [transactionOf({}), transactionOf({})]
  await one.enter(outer, async () => {
    expect(other.current()).toBeUndefined()
    await other.enter(inner, async () => {
      expect([one.current(), other.current()]).toEqual([outer, inner])
      one.leave(outer)
      expect([one.current(), other.current()]).toEqual([undefined, inner])
    })
  })
})

test('locks that are made and used once leave nothing that every promise of the process has to ask', async () => {
  const used = vi.spyOn(AsyncLocalStorage.prototype, 'run')
  for (let made = 0; made < 3; made += 1) await createScope<object>().enter(transactionOf({}), async () => {})
  expect(used.mock.contexts).toHaveLength(3)
  expect(new Set(used.mock.contexts).size).toBe(1)
})

test('a timer that opens the next transaction from within the last keeps none that is over', async () => {
  const made: WeakRef<object>[] = []
  let end = (): void => {}
  const ended = new Promise<void>((resolve) => (end = resolve))
  const next = async (): Promise<void> => {
    const scope = createScope<object>()
    made.push(new WeakRef(scope))
    const transaction = transactionOf({})
    await scope.enter(transaction, async () => {
      if (made.length === 20) startTimer()
      setImmediate(made.length < 20 ? next : end)
    })
    scope.leave(transaction)
  }
  await next()
  await ended
  expect(await keptOf(made)).toBeLessThan(10)
})
