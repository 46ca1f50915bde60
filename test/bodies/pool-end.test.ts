import mysql from 'mysql2/promise'
import { expect, test } from 'vitest'

import { createLocks } from '../../src/entries/mysql2.ts'
import { describeEngines } from '../engines/use.ts'

describeEngines(
  (context) => {
    test('a pool of mysql2 ends while one of its connections holds a lock', async () => {
      const pool = mysql.createPool({ uri: context.engine.server.url, connectionLimit: 1 })
      const held = await createLocks(pool).acquire('a')
      await pool.end()
      await expect(held.release()).rejects.toThrow()
    })
  },
  { only: ['mysql', 'mariadb'] },
)
