import { describe, expect, test, vi } from 'vitest'

import { deferred } from '../../src/conformance/deferred.ts'
import { Cutoff, untilAborted, type Abortable } from '../../src/locks/abort.ts'

interface Switch {
  readonly signal: Abortable
  readonly abort: (reason: Error) => void
}

const switches: Readonly<Record<string, () => Switch>> = {
  'an AbortSignal': () => {
    const controller = new AbortController()
    return { signal: controller.signal, abort: (reason) => controller.abort(reason) }
  },
  'a cutoff': () => {
    const cutoff = new Cutoff()
    return { signal: cutoff, abort: (reason) => cutoff.abort(reason) }
  },
}

const never = new Promise<never>(() => {})
const reason = new Error('enough')

describe.each(Object.entries(switches))('%s', (_, make) => {
  test('tells each of its listeners once, those that were taken away never, and keeps its first reason', () => {
    const { signal, abort } = make()
    const [told, leaver] = [vi.fn<() => void>(), vi.fn<() => void>()]
    signal.addEventListener('abort', told, { once: true })
    signal.addEventListener('abort', leaver, { once: true })
    signal.removeEventListener('abort', leaver)
    expect(() => signal.throwIfAborted()).not.toThrow()
    abort(reason)
    abort(new Error('again'))
    expect(told).toHaveBeenCalledTimes(1)
    expect(leaver).not.toHaveBeenCalled()
    expect(signal).toMatchObject({ aborted: true, reason })
    expect(() => signal.throwIfAborted()).toThrow(reason)
  })

  test('ends a wait that would never end, and has it interrupted', async () => {
    const { signal, abort } = make()
    const interrupt = vi.fn<() => void>()
    const waiting = untilAborted(never, signal, interrupt)
    abort(reason)
    await expect(waiting).rejects.toBe(reason)
    expect(interrupt).toHaveBeenCalledTimes(1)
  })

  test('ends one that begins too late', async () => {
    const { signal, abort } = make()
    abort(reason)
    await expect(untilAborted(never, signal, () => {})).rejects.toBe(reason)
  })

  test('comes too late for work that has ended in the same moment', async () => {
    const { signal, abort } = make()
    const interrupt = vi.fn<() => void>()
    const work = deferred<string>()
    const waiting = untilAborted(work.promise, signal, interrupt)
    work.resolve('done')
    abort(reason)
    expect(await waiting).toBe('done')
    expect(interrupt).not.toHaveBeenCalled()
  })

  test('leaves nobody with an error of work that nobody waits for any longer', async () => {
    const { signal, abort } = make()
    const work = deferred<string>()
    const waiting = untilAborted(
      work.promise.then((text) => text), // the first promise has a handler of its own
      signal,
      () => {},
    )
    abort(reason)
    await expect(waiting).rejects.toBe(reason)
    work.reject(new Error('too late'))
    await new Promise(setImmediate) // by then an error without a handler has failed the run
  })
})
