import { describe, expect, test } from 'vitest'

import { caught } from '../entries/stage.ts'
import { describeBodies, note, onKysely, onMariadb, onMysql2, type Stage } from './stage.ts'

/** MariaDB's own: with it, to lock a row that has changed since the snapshot fails, and ends the transaction. */
const strict = 'set innodb_snapshot_isolation = on'

describe('work that catches the error of a row that has changed since the snapshot', () => {
  const only = [onMysql2, onMariadb, onKysely].map((subject) => ({ ...subject, engines: ['mariadb'] }))
  describeBodies(specs, { only })
})

function specs(stage: Stage): void {
  const { transaction, stored } = stage
  test('is run again, and each of its effects is stored once', async () => {
    const outsider = await stage.engine.open()
    const errors: unknown[] = []
    let attempts = 0
    await transaction(async (send) => {
      attempts += 1
      await send(strict)
      await send(note(1))
      await send('select * from counter')
      if (attempts === 1) {
        await outsider.run({ sql: 'update counter set n = n + 1 where id = 1', params: [] })
        errors.push(await caught(send('select n from counter where id = 1 for update')))
      }
      await send(note(2))
    })
    await outsider.close()
    expect(errors).toEqual([expect.objectContaining({ errno: 1020 })])
    expect(attempts).toBe(2)
    expect(await stored()).toEqual([1, 2])
  })
}
