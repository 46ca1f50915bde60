import { expect, test } from 'vitest'

import type { LockSeen } from '../../../src/core/inspection.ts'
import { describeClients } from '../../bodies/client.ts'
import { gate } from '../../entries/stage.ts'
import { lookerOn } from './look.ts'

// The looker knows no key: it has only what the server tells of the statements that were really sent.
describeClients(
  (scene) => {
    test('a key is told of a lock that withLock holds, and of one that it waits for', async () => {
      const client = scene.connect(2)
      const [began, ending] = [gate(), gate()]
      const run = (): Promise<void> =>
        client.locks.withLock(['invoice', 7], async () => {
          began.open()
          await ending.opened
        })
      const holder = run()
      await began.opened
      const outsider = await scene.engine.open()
      const { lookUntil } = await lookerOn(outsider, { name: 'postgres', version: scene.server.version })
      const named = ({ kind }: LockSeen): boolean => kind === 'name'
      // with a pipeline the work may begin before the server has heard of the lock
      await lookUntil(
        ({ sessions }) => sessions.some(({ holds }) => holds.some(named)),
        'a holder of the name',
      )
      const others = scene.connect(1)
      const waiter = others.locks.withLock(['invoice', 7], async () => {})
      const sight = await lookUntil(
        ({ sessions }) => sessions.some(({ waits }) => waits !== undefined && named(waits.lock)),
        'a session that waits for the name',
      )
      await outsider.close()
      ending.open()
      await Promise.all([holder, waiter])
      const held = sight.sessions.flatMap(({ holds }) => holds.filter(named))
      const waited = sight.sessions.flatMap(({ waits }) => (waits === undefined ? [] : [waits.lock]))
      expect([...held, ...waited].map(({ key }) => key)).toEqual(['invoice.7', 'invoice.7'])
    })
  },
  ['postgres'],
)
