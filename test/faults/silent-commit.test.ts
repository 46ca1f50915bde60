import { afterEach, expect, test } from 'vitest'

import { CommitOutcomeUnknownError } from '../../src/core/errors.ts'
import { describeClients } from '../bodies/client.ts'
import { startCuttingProxy, type CuttingProxy } from '../entries/cutting-proxy.ts'
import { caught } from '../entries/stage.ts'

// one way to each server, since this takes as long as a COMMIT may
describeClients(
  (scene) => {
    let proxy: CuttingProxy | undefined
    afterEach(() => proxy?.close())

    test.runIf(scene.title === 'pg' || scene.title === 'mysql2')(
      'a COMMIT without any limit that is never answered ends, and says that its outcome is unknown',
      async () => {
        proxy = await startCuttingProxy(scene.engine.server.url)
        const client = scene.connect(1, proxy.url)
        await client.locks.transaction((tx) => client.query(tx, 'select 1'))
        void proxy.cutAt('COMMIT', 'silent')
        const work = client.locks.transaction((tx) => client.query(tx, 'update item set n = n + 1'))
        expect(await caught(work)).toBeInstanceOf(CommitOutcomeUnknownError)
      },
      120_000,
    )
  },
  ['postgres', 'mysql'],
)
