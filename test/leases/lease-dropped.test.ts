import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

test('a lease that is dropped while it is held is reported, and none that has ended by then', async () => {
  const child = fork(fileURLToPath(new URL('./dropped-lease.ts', import.meta.url)), [], {
    execArgv: ['--expose-gc', '--import', 'tsx'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const [report] = (await once(child, 'message')) as [unknown]
  expect(report).toEqual({
    isKept: true,
    warnings: [expect.stringMatching(/^HoldfastWarning: the lease "the dropped one" is still held/)],
  })
})
