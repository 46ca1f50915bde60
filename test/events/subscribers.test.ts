import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { isDeepStrictEqual } from 'node:util'

import { expect, onTestFinished, test } from 'vitest'

import { caught, describePatterns } from '../patterns/stage.ts'
import { listen, toldOn } from './listen.ts'

const starts = ['transaction', 'lock', 'lease'].map((kind) => `tracing:holdfast:${kind}:start`)

/** Has the event in hand before anybody else. */
function meddle(hear: (event: Record<string, unknown>) => void): void {
  for (const name of starts) {
    const heard = (event: unknown): void => hear(event as Record<string, unknown>)
    subscribe(name, heard)
    onTestFinished(() => void unsubscribe(name, heard))
  }
}

/** Ends the connection that the statement runs on. */
const kill: Readonly<Record<string, string>> = {
  postgres: 'select pg_terminate_backend(pg_backend_pid())',
  mysql: 'kill connection_id()',
}

describePatterns(
  (stage) => {
    const key = ['meddling', stage.name] as const

    const useAll = async (): Promise<string> => {
      const { shared } = stage.node().meeting
      await using lease = await shared.lease(key)
      await using held = await shared.acquire([...key, 'held'])
      const refused = await caught(
        shared.transaction(async (tx) => {
          await stage.node().rows(tx, { table: 'account', key: { id: 1 } })
          throw new Error('mine')
        }),
      )
      const done = await shared.withLock(key, async () => 'done')
      return [isDeepStrictEqual(lease.key, key), held.receipt.asked, (refused as Error).message, done].join()
    }

    test('a subscriber that freezes the events changes nothing for the caller', async () => {
      meddle((event) => void Object.freeze(event))
      expect(await useAll()).toBe('true,exclusive,mine,done')
    })

    test('a subscriber that writes into the events hides no end from the others', async () => {
      meddle((event) => void Object.assign(event, { outcome: 'granted', heldMs: -1 }))
      const told = listen()
      expect(await useAll()).toBe('true,exclusive,mine,done')
      const granted = toldOn(told, 'lock:asyncEnd', 'lease:asyncEnd').length
      expect(granted).toBeGreaterThanOrEqual(4)
      expect(toldOn(told, 'lock:ended', 'lease:ended')).toHaveLength(granted)
    })

    test.runIf(stage.name in kill)('a lock whose connection is ended is told as lost', async () => {
      const node = stage.node()
      const told = listen()
      const sql = kill[stage.name] ?? ''
      await caught(
        node.meeting.shared.withLock(key, (tx) => node.run(tx, { sql, params: [] }), { attempts: 1 }),
      )
      expect(toldOn(told, 'lock:ended')).toMatchObject([{ key, isLost: true }])
    })

    test.runIf(stage.name in kill)(
      'a lock whose call is aborted is told as ended, and not as lost',
      async () => {
        const told = listen()
        const abort = new AbortController()
        const work = async (): Promise<void> => abort.abort()
        const { signal } = abort
        await caught(
          stage
            .node()
            .meeting.shared.withLock(key, () => work().then(() => new Promise(() => {})), { signal }),
        )
        expect(toldOn(told, 'lock:ended')).toMatchObject([{ key, isLost: false }])
      },
    )
  },
  { only: ['postgres', 'mysql', 'sqlite'] },
)
