import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, open, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { processesIn } from '../engines/processes-in.ts'
import { program } from './terminal.ts'

// how it ends depends on its own process
describe('output that nobody takes', () => {
  let main: string
  let temporary: string
  beforeEach(async () => {
    main = await program()
    temporary = await mkdtemp(join(tmpdir(), 'holdfast-output-'))
  })
  afterEach(() => rm(temporary, { recursive: true, force: true }))

  const start = (args: readonly string[], stdout: 'pipe' | number = 'pipe'): ChildProcess =>
    spawn(process.execPath, [main, ...args], {
      env: { ...process.env, TMPDIR: temporary },
      stdio: ['ignore', stdout, 'pipe'],
    })
  const texts = async (stream: ChildProcess['stderr']): Promise<string> =>
    stream === null ? '' : (await stream.setEncoding('utf8').toArray()).join('')
  const expectNothingLeft = async (): Promise<void> => {
    expect(await processesIn(temporary)).toEqual([])
    expect(await readdir(temporary)).toEqual([])
  }

  test('a reader that goes away while the engines are prepared ends it quietly, and nothing is left', async () => {
    const child = start(['verify'])
    const exit = once(child, 'exit')
    await once(child.stderr ?? child, 'data')
    child.stderr?.destroy()
    child.stdout?.destroy()
    expect(await exit).toEqual([141, null])
    await expectNothingLeft()
  })

  test('a reader that is gone before the report ends it without a word of that', async () => {
    const child = start(['verify', '--law', 'R1'])
    child.stdout?.destroy()
    const said = texts(child.stderr)
    expect(await once(child, 'exit')).toEqual([141, null])
    expect((await said).trimEnd().split('\n').at(-1)).toMatch(/^For more databases/)
    await expectNothingLeft()
  })

  test('a watch ends with its reader', async () => {
    const file = join(temporary, 'some.sqlite')
    await (await open(file, 'a')).close()
    const child = start(['inspect', file, '--watch', '--every', '1'])
    const exit = once(child, 'exit')
    await once(child.stdout ?? child, 'data')
    child.stdout?.destroy()
    expect(await exit).toEqual([141, null])
  })

  describe.skipIf(process.platform !== 'linux')('on a full disk', () => {
    test.each([['matrix'], ['verify', '--law', 'R1']])('%s says so in one line', async (...args) => {
      const full = await open('/dev/full', 'w')
      const child = start(args, full.fd)
      const said = texts(child.stderr)
      expect(await once(child, 'exit')).toEqual([4, null])
      await full.close()
      expect((await said).trimEnd().split('\n').at(-1)).toBe(
        'holdfast: cannot write to standard output: ENOSPC: no space left on device, write',
      )
      expect(await said).not.toContain('    at ')
      await expectNothingLeft()
    })

    test('a report that cannot be written is named', async () => {
      const child = start(['verify', '--law', 'R1', '--reporter', 'json:/dev/full', '--reporter', 'terminal'])
      const [said, printed] = [texts(child.stderr), texts(child.stdout)]
      expect(await once(child, 'exit')).toEqual([4, null])
      expect(await printed).toContain('3 laws on 3 databases: 3 hold')
      expect((await said).trimEnd().split('\n').at(-1)).toBe(
        'verify: cannot write the report /dev/full: ENOSPC: no space left on device, write',
      )
      expect(await said).not.toContain('    at ')
    })
  })
})
