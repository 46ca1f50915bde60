import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'

import { describe, expect, test } from 'vitest'

import { programOf } from '../engines/program.ts'
import { newJobTable } from './new-job-stage.ts'
import { describeQueues, type QueueStage } from './stage.ts'
import type { FromStorer } from './storer.ts'

const keys = 60

describe('processes that store the same jobs at once', () => {
  // a database of DuckDB belongs to one process
  describeQueues(specs, { only: ['postgres', 'mysql', 'mariadb', 'sqlite', 'mongodb'] })
})

function specs(stage: QueueStage): void {
  const table = newJobTable(stage, 'shared_job')

  test('store each of them once', async () => {
    const program = await programOf(new URL('./storer.ts', import.meta.url))
    const { id } = table.jobs.shape
    const args = [stage.name, stage.engine.server.url, table.name, id, String(keys)]
    const children = [1, 2].map(() => fork(program, args, { execArgv: [] }))
    try {
      expect(await Promise.all(children.map(said))).toEqual(['ready', 'ready'])
      const counts = children.map(said)
      for (const child of children) child.send('go')
      const told = (await Promise.all(counts)) as [number, number][]
      for (const [stored, existing] of told) expect(stored + existing).toBe(keys)
      expect(told.reduce((sum, [stored]) => sum + stored, 0)).toBe(keys)
      expect(new Set(await table.keys()).size).toBe(keys)
      expect(await table.all()).toHaveLength(keys)
    } finally {
      for (const child of children) child.kill('SIGKILL')
    }
  })
}

async function said(child: ChildProcess): Promise<FromStorer> {
  const gone = once(child, 'exit').then(([code]) => {
    throw new Error(`the process ended with ${String(code)}`)
  })
  const [message] = (await Promise.race([once(child, 'message'), gone])) as [FromStorer]
  gone.catch(() => {})
  return message
}
