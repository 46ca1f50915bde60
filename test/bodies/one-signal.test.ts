import { setImmediate as nextRound } from 'node:timers/promises'
import { expect, test } from 'vitest'

import { caught, gate } from '../entries/stage.ts'
import { describeClients } from './client.ts'

describeClients((scene) => {
  test('one signal ends any number of calls, and nobody is warned of so many', async () => {
    const warnings: string[] = []
    const note = ({ name }: Error): void => void warnings.push(name)
    process.on('warning', note)
    const client = scene.connect(4)
    const stop = new AbortController()
    const { signal } = stop
    const entered = gate()
    const inside = async (): Promise<void> => {
      entered.open()
      await new Promise(() => {})
    }
    const calls = Array.from({ length: 20 }, () => [
      caught(client.locks.withLock('one', inside, { signal })),
      caught(client.locks.transaction(inside, { signal })),
    ]).flat()
    await entered.opened
    await nextRound()
    stop.abort(new Error('enough'))
    const ends = await Promise.all(calls)
    process.off('warning', note)
    expect(new Set(ends)).toEqual(new Set([signal.reason]))
    expect(warnings).toEqual([])
  })
})
