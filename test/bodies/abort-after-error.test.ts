import { afterEach, expect, test } from 'vitest'

import { until } from '../engines/use.ts'
import { caught } from '../entries/stage.ts'
import { describeClients } from './client.ts'

/** How many times something is put off to the end of what the program has to do now: each is another moment. */
const moments = Array.from({ length: 12 }, (_, moment) => moment)

describeClients((scene) => {
  afterEach(() => until(async () => (await scene.engine.leftovers()).length === 0, 'nothing left'))

  test("an abort behind the work's own error gives no open transaction back", async () => {
    const client = scene.connect(1)
    const mistake = new Error('a mistake of the application')
    for (const moment of moments) {
      const aborting = new AbortController()
      const abortIn = (left: number): void =>
        left === 0 ? aborting.abort(mistake) : queueMicrotask(() => abortIn(left - 1))
      const failing = client.locks.transaction(
        async (tx) => {
          await client.query(tx, 'update item set n = n + 1')
          abortIn(moment)
          throw mistake
        },
        { signal: aborting.signal },
      )
      expect(await caught(failing)).toBe(mistake)
      expect((await client.query(undefined, 'select n from item')).map(({ n }) => Number(n))).toEqual([0, 0])
    }
  })
})
