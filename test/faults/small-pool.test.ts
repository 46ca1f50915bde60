import { expect, test } from 'vitest'

import { LockError } from '../../src/core/errors.ts'
import type { LockKey } from '../../src/core/key.ts'
import type { Shop } from '../stories/shop.ts'
import { describeFaults, type Stage } from './stage.ts'

interface Wait {
  readonly wait?: { readonly timeoutMs: number }
  readonly signal?: AbortSignal
}
type Use = (shop: Shop, key: LockKey, how: Wait) => Promise<string>

/** What can be done with a lock, alone or while another is held. */
const uses = {
  withLock: ({ locks }, key, how) => locks.withLock(key, async () => 'in', how),
  acquire: async ({ locks }, key, how) => {
    await (await locks.acquire(key, how)).release()
    return 'in'
  },
  lease: async ({ locks }, key, how) => {
    await (await locks.lease(key, how)).release()
    return 'in'
  },
} satisfies Readonly<Record<string, Use>>

/** Runs `inner` while the pool's only connection is taken, where the engine takes one. */
const whileHeld = {
  withLock: ({ locks }, key, inner) => locks.withLock(key, inner),
  transaction: ({ locks }, _, inner) => locks.transaction(inner),
  acquire: async ({ locks }, key, inner) => {
    const held = await locks.acquire(key)
    return inner().finally(() => held.release())
  },
} satisfies Readonly<
  Record<string, (shop: Shop, key: LockKey, inner: () => Promise<string>) => Promise<string>>
>

describeFaults((stage) => {
  for (const size of [1, 2]) {
    test(`60 who want 3 locks at once all get them with a pool of ${size}`, async () => {
      const shop = await stage.shop(size)
      const keys = [stage.key('a'), stage.key('b'), stage.key('c')]
      const wishes = Array.from({ length: 20 }, (_, index) => index).flatMap((index) =>
        Object.values(uses).map((use) => use(shop, keys[index % 3] ?? [], {})),
      )
      expect(await Promise.all(wishes)).toEqual(wishes.map(() => 'in'))
    })
  }

  for (const outer of ['withLock', 'transaction', 'acquire'] as const) {
    for (const inner of innerOf(outer)) {
      test(`${inner} in a pool of one, while ${outer} has it, ends in time and names the cause`, async () => {
        const shop = await stage.shop(1)
        const [mine, other] = [stage.key('mine'), stage.key('other')]
        // a call that would hang is ended, so that it holds up no other test
        // what can be had is waited for, however slow the machine is
        const timeoutMs = isScarce(stage, outer) ? 400 : 50_000
        const how = { wait: { timeoutMs }, signal: AbortSignal.timeout(60_000) }
        const asked = whileHeld[outer](shop, mine, () => uses[inner](shop, other, how))
        const outcome = await asked.catch((error: unknown) => error)
        if (outcome !== 'in' || isScarce(stage, outer)) {
          expect(outcome).toBeInstanceOf(LockError)
          expect((outcome as Error).message).toMatch(/connection|would wait for itself/)
        }
        for (const use of Object.values(uses)) expect(await use(shop, other, {})).toBe('in')
      })
    }
  }
})

/** A transaction in a transaction is refused for another reason. */
function innerOf(outer: keyof typeof whileHeld): readonly (keyof typeof uses)[] {
  return outer === 'acquire' ? ['withLock', 'lease'] : ['acquire', 'lease']
}

/** Where it is certain that there is no second connection. */
function isScarce({ name, keptBy }: Stage, outer: keyof typeof whileHeld): boolean {
  return keptBy === 'connection' || (name === 'sqlite' && outer !== 'acquire')
}
