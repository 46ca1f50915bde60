import { expect, test } from 'vitest'

import { LockNotAvailableError, LockUsageError } from '../../src/core/errors.ts'
import type { LockKey } from '../../src/core/key.ts'
import { caught } from '../entries/stage.ts'
import type { Shop } from '../stories/shop.ts'
import { processes } from './elsewhere.ts'
import { describeFaults, rowNames } from './stage.ts'

const dayMs = 86_400_000

type Call = 'acquire' | 'lease'

/** With what the types do not allow. */
function ask({ locks }: Shop, call: Call, key: unknown, options: unknown = {}): Promise<AsyncDisposable> {
  return locks[call](key as LockKey, options as object)
}

const badKeys: Readonly<Record<string, unknown>> = {
  'an empty text': '',
  'no parts': [],
  'an empty part': ['user', ''],
  null: null,
  undefined: undefined,
  'a fraction': 1.5,
  NaN: Number.NaN,
  'a number that is not exact': 2 ** 53,
  'an object': {},
  'a flag': true,
  'a date': new Date(0),
  'a part that is a list': [['a']],
  'a megabyte': 'x'.repeat(1_000_000),
  'half of a surrogate pair': '\uD800',
}

const badOptions: Readonly<Record<string, unknown>> = {
  'ttlMs of 0': { ttlMs: 0 },
  'ttlMs below 0': { ttlMs: -1 },
  'ttlMs that is NaN': { ttlMs: Number.NaN },
  'ttlMs without end': { ttlMs: Infinity },
  'ttlMs of a hundred days': { ttlMs: 100 * dayMs },
  'ttlMs that is text': { ttlMs: '1000' },
  'ttlMs too short to be renewed': { ttlMs: 5 },
  'an unknown option': { tll: 1000 },
  'a wait that skips': { wait: 'skip' },
  'a wait of no time': { wait: { timeoutMs: 0 } },
  'a wait that is NaN': { wait: { timeoutMs: Number.NaN } },
  'another scope': { scope: 'transaction' },
  'a signal that is none': { signal: {} },
}

describeFaults((stage) => {
  for (const call of ['acquire', 'lease'] as const) {
    test.each(Object.entries(badKeys))(`${call} refuses as a key: %s`, async (_, key) => {
      const error = await caught(ask(await stage.shop(1), call, key))
      expect(error).toBeInstanceOf(LockUsageError)
      expect((error as LockUsageError).field).toMatch(/^key/)
      expect((error as Error).message.length).toBeLessThan(300)
    })

    test.each(Object.entries(badOptions))(`${call} refuses %s, and names it`, async (_, options) => {
      const error = await caught(ask(await stage.shop(1), call, stage.key(), options))
      expect(error).toBeInstanceOf(LockUsageError)
      const [field = ''] = Object.keys(options as object)
      expect((error as LockUsageError).field).toMatch(new RegExp(`^${field}`))
    })

    test(`${call}: a signal that is aborted already ends it with its reason`, async () => {
      const reason = new Error('too late')
      const shop = await stage.shop(1)
      const key = stage.key()
      expect(await caught(ask(shop, call, key, { signal: AbortSignal.abort(reason) }))).toBe(reason)
      await (await ask(shop, call, key, { wait: 'nowait' }))[Symbol.asyncDispose]()
    })

    test(`${call}: keys that differ in case are two locks, and two spellings of one text are one`, async () => {
      const shop = await stage.shop(2)
      const held = await ask(shop, call, stage.key('x').with(3, 'caf\u00e9'))
      const [small, capital, spelled] = ['caf\u00e9', 'CAF\u00c9', 'cafe\u0301'].map((text) => [call, text])
      const first = await ask(shop, call, small)
      await (await ask(shop, call, capital, { wait: 'nowait' }))[Symbol.asyncDispose]()
      expect(await caught(ask(shop, call, spelled, { wait: 'nowait' }))).toBeInstanceOf(LockNotAvailableError)
      for (const handle of [first, held]) await handle[Symbol.asyncDispose]()
    })

    test(`${call}: numbers and texts of the same digits are two locks, 7 and 7n are one`, async () => {
      const shop = await stage.shop(2)
      const first = await ask(shop, call, [call, 7])
      await (await ask(shop, call, [call, '7'], { wait: 'nowait' }))[Symbol.asyncDispose]()
      expect(await caught(ask(shop, call, [call, 7n], { wait: 'nowait' }))).toBeInstanceOf(
        LockNotAvailableError,
      )
      await first[Symbol.asyncDispose]()
    })
  }
})

describeFaults(
  (stage) => {
    const start = processes(stage)

    for (const [words, shiftMs] of [
      ['fast', dayMs],
      ['slow', -dayMs],
    ] as const) {
      test(`a holder whose clock is a day ${words} holds its lease for as long as any other`, async () => {
        const [shop, elsewhere] = [await stage.shop(), await start(shiftMs)]
        const { date } = await elsewhere.tell('date', 'date')
        expect(Math.abs(date - Date.now() - shiftMs)).toBeLessThan(60_000)
        /** Whether it outlasts its first end. A machine may be too busy to renew it in time, of which its holder hears. */
        const outlasts = async (ttlMs: number): Promise<boolean> => {
          const key = stage.key()
          const { held } = await elsewhere.tell({ hold: 'lease', key, ttlMs }, 'held')
          expect(Math.abs(Number(held?.fence) - Date.now())).toBeLessThan(60_000)
          const wanted = await caught(shop.locks.lease(key, { wait: { timeoutMs: ttlMs * 1.5 } }))
          const seen = await elsewhere.tell('look', 'isAborted')
          if (seen.isAborted) return false
          expect(wanted).toMatchObject({ name: 'LockTimeoutError' })
          expect(seen.thrown).toBe('nothing')
          return true
        }
        expect((await outlasts(4000)) || (await outlasts(25_000))).toBe(true)
      })

      test(`the lease of a holder whose clock is a day ${words} ends when it has died`, async () => {
        const [shop, elsewhere] = [await stage.shop(), await start(shiftMs)]
        const key = stage.key()
        const { held } = await elsewhere.tell({ hold: 'lease', key, ttlMs: 2000 }, 'held')
        await elsewhere.signal('SIGKILL')
        const next = await shop.locks.lease(key, { wait: { timeoutMs: 60_000 } })
        expect(next.fence).toBeGreaterThan(Number(held?.fence))
        await next.release()
      })

      test(`whoever waits with a clock that is a day ${words} neither takes a lease early nor misses its end`, async () => {
        const [shop, elsewhere] = [await stage.shop(), await start(shiftMs)]
        const key = stage.key()
        const first = await shop.locks.lease(key, { ttlMs: 20_000 })
        const taking = elsewhere.tell({ hold: 'lease', key, ttlMs: 60_000 }, 'held')
        const renewed = (await stage.leaseOf(rowNames.lease(key)))?.expiresAt ?? 0
        await first.extend(30_000)
        expect((await stage.leaseOf(rowNames.lease(key)))?.owner).toBe(first.owner)
        expect((await stage.leaseOf(rowNames.lease(key)))?.expiresAt).toBeGreaterThan(renewed)
        await first.release()
        const { held } = await taking
        expect(held?.fence).toBeGreaterThan(first.fence)
        expect(await caught(shop.locks.lease(key, { wait: 'nowait' }))).toBeInstanceOf(LockNotAvailableError)
      })
    }
  },
  { withProcesses: true },
)
