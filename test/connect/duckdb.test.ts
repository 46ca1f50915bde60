import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { expect, test } from 'vitest'

import { loadDuckdb } from '../engines/duckdb-driver.ts'
import { describeEngines } from '../engines/use.ts'

describeEngines(
  ({ server }) => {
    test('a pool can be closed while connections are being made, which are ended when they come', async () => {
      const file = join(server.url, 'closed-while-opening.duckdb')
      const { DuckDBInstance } = await loadDuckdb()
      const instance = await DuckDBInstance.create(file)
      instance.closeSync()
      // in a process of its own: DuckDB crashes it when the instance goes away under a connection
      const program = fileURLToPath(new URL('close-while-opening.ts', import.meta.url))
      const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', program, file], {
        env: { ...process.env, UV_THREADPOOL_SIZE: '1' },
      })
      expect(JSON.parse(stdout)).toEqual(Array(2).fill('Error: the pool was closed'))
    })
  },
  { only: ['duckdb'] },
)
