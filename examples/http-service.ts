/*
 * A small service that takes payments. While a cart is being paid for, a second click is told "busy, try again" within
 * 100 ms, instead of waiting for the payment, or of paying twice.
 *
 * The lock is none of a transaction: the payment provider is slow, and no transaction should be open meanwhile. Without
 * the lock both clicks find the cart unpaid, and both pay.
 */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

import { LockNotAvailableError } from 'holdfast'

import { refuse } from './story/arguments.ts'
import { createGate } from './story/meeting.ts'
import { openStory } from './story/story.ts'

const interrupted = createGate()
await using story = await openStory({
  shows: 'A service answers "busy, try again" within 100 ms while a cart is being paid for.',
  isService: true,
  onInterrupt: interrupted.open,
})
const { locks, tables } = await story.connect()
await tables().create('payment', { id: 'text', cart: 'integer' })

// Leaves room for the answer within 100 ms. The clients below are not to be at the mercy of a busy machine.
const patienceMs = story.port === undefined ? 20_000 : 80
let payments = 0
/** The provider: slow for people who try the service, and as slow as it has to be for the clients below. */
let askProvider: (cart: number) => Promise<unknown> = () => pause(3000)

async function checkOut(cart: number): Promise<string> {
  const paid = await tables().find('payment', { cart })
  if (paid.length > 0) return 'paid already'
  payments += 1
  const id = `payment ${payments}`
  await askProvider(cart)
  await locks.transaction((tx) => tables(tx).insert('payment', { id, cart }))
  return 'paid'
}

async function checkOutAlone(cart: number): Promise<string> {
  // The signal ends the wait for a database that does not answer; a lock that has been granted stays.
  const limits = { wait: 'nowait', signal: AbortSignal.timeout(patienceMs) } as const
  const held = await locks.acquire(['cart', cart], limits)
  try {
    return await checkOut(cart)
  } finally {
    await held.release()
  }
}

async function answer(url: string, response: ServerResponse): Promise<void> {
  const cart = /^\/carts\/(\d{1,9})\/checkout$/.exec(url)?.[1]
  if (cart === undefined) return void response.writeHead(404).end('no such page\n')
  try {
    const result = await (story.withoutLock ? checkOut : checkOutAlone)(Number(cart))
    response.end(`${result}\n`)
  } catch (error) {
    if (error instanceof LockNotAvailableError) {
      response.writeHead(409, { 'Retry-After': '1' }).end('busy, try again\n')
    } else if (error instanceof DOMException && error.name === 'TimeoutError') {
      response.writeHead(503, { 'Retry-After': '5' }).end('the database does not answer, try again\n')
    } else {
      console.error(error)
      response.writeHead(500).end('it went wrong\n')
    }
  }
}

const server = createServer((request, response) => void answer(request.url ?? '', response))
server.on('error', (error) => refuse(`cannot listen on port ${story.port}: ${error.message}`, 2))
await new Promise<void>((resolve) => server.listen(story.port ?? 0, '127.0.0.1', resolve))
const home = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
await (story.port === undefined ? playClients() : stayUp())
// What is under way is answered first, and only then is the database taken away.
await new Promise((resolve) => server.close(resolve))

async function stayUp(): Promise<void> {
  console.log(`try it: curl -i -X POST ${home}/carts/7/checkout, twice at once; Ctrl-C ends it`)
  await interrupted.isOpen
  console.log('stopped')
}

async function click(cart: number): Promise<string> {
  const response = await fetch(`${home}/carts/${cart}/checkout`, { method: 'POST' })
  const retry = response.headers.get('retry-after')
  const words = (await response.text()).trim()
  return `${response.status} ${words}${retry === null ? '' : ` (Retry-After: ${retry})`}`
}

async function playClients(): Promise<void> {
  const [isAsked, isPaid] = [createGate(), createGate()]
  const bothHaveRead = story.meeting(2)
  askProvider = async (cart) => {
    isAsked.open()
    if (story.withoutLock) await bothHaveRead()
    else if (cart === 7) await isPaid.isOpen
  }
  const first = click(7)
  const tooEarly = await Promise.race([isAsked.isOpen, first])
  if (tooEarly !== undefined) throw new Error(`the first click is answered at once: ${tooEarly}`)
  if (!story.withoutLock) {
    const clicks: string[] = []
    for (let count = 0; count < 5; count += 1) clicks.push(await click(7))
    console.log(`five more clicks meanwhile: ${[...new Set(clicks)].join(', ')}`)
    console.log(`another cart meanwhile: ${await click(8)}`)
    isPaid.open()
    console.log(`the first click: ${await first}`)
    console.log(`one more click: ${await click(7)}`)
  } else {
    const second = click(7)
    console.log(`two clicks at once: ${await first}, ${await second}`)
  }
  console.log(`payments for cart 7: ${(await tables().find('payment', { cart: 7 })).length}`)
}
