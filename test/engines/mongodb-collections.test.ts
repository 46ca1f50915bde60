import { expect, test } from 'vitest'

import type { Statement } from '../../src/core/statement.ts'
import { describeEngines } from './use.ts'

/** All that makes a collection which is not there. */
const ways: readonly ((name: string, client: number) => Statement)[] = [
  (name) => ({ command: { create: name } }),
  (name, client) => ({ command: { insert: name, documents: [{ _id: client }] } }),
  (name) => ({ command: { createIndexes: name, indexes: [{ key: { n: 1 }, name: 'n' }] } }),
  (name) => ({
    command: { update: name, updates: [{ q: { _id: 'one' }, u: { $inc: { n: 1 } }, upsert: true }] },
  }),
]
const ROUNDS = 5

describeEngines(
  (context) => {
    // with Wine's own C++ runtime the server hung or died within three of these
    test('clients that make one collection at the same time are all served', async () => {
      const sessions = await Promise.all(Array.from({ length: 4 }, () => context.engine.open()))
      try {
        for (const [kind, way] of ways.entries()) {
          for (let round = 0; round < ROUNDS; round += 1) {
            const name = `made_${kind}_${round}`
            await Promise.all(sessions.map((session, client) => session.run(way(name, client))))
          }
        }
        const made = await sessions[0]?.run({ command: { listCollections: 1, cursor: { batchSize: 100 } } })
        expect(made).toHaveLength(ways.length * ROUNDS)
      } finally {
        await Promise.all(sessions.map((session) => session.close()))
      }
    })
  },
  { only: ['mongodb'] },
)
