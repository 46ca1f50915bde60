import { expect, test } from 'vitest'

import { classifyError } from '../../src/classify.ts'
import { caught } from '../entries/stage.ts'
import { describeClients } from './client.ts'

const change = 'update item set n = n + 1 where id = 1'

describeClients(
  (scene) => {
    const nul = ['the first statement', [`${change} -- \0`]] as const
    const later = ['one behind another', [change, `${change} -- \0 of a longer text`]] as const
    test.each([nul, later])(
      'a text with a NUL character is run once, and its error is that of the driver: %s',
      async (_, texts) => {
        const client = scene.connect(1)
        let runs = 0
        const failing = client.locks.withLock('nul', async (tx) => {
          runs += 1
          for (const text of texts) await client.query(tx, text)
        })
        const said = await caught(failing)
        expect(said).toMatchObject({ code: '08P01' })
        expect(classifyError(said)).toMatchObject({ kind: 'other', transaction: 'aborted', original: said })
        expect(runs).toBe(1)
        // on the same connection
        const [row] = await client.locks.transaction((tx) =>
          client.query(tx, 'select n from item where id = 1'),
        )
        expect(Number(row?.n)).toBe(0)
      },
    )
  },
  ['postgres'],
)
