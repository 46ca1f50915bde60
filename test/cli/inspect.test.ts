import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { keysIn } from '../../src/cli/inspect-key.ts'
import { runCli } from '../../src/cli/run.ts'
import type { Inspection } from '../../src/core/inspection.ts'
import { meet, type SharedLocks } from '../../src/locks.ts'
import { registry, type DialectName } from '../../src/registry.ts'
import { subjects, type Connected } from '../adapters/subject.ts'
import { describeEngines, until, type EngineContext } from '../engines/use.ts'
import { gate } from '../entries/stage.ts'
import { cli, program } from './terminal.ts'

describeEngines(specs)

function specs(context: EngineContext): void {
  let connected: Connected | undefined
  const locks = (): SharedLocks<unknown> => {
    if (connected === undefined) throw new Error('the locks are there only inside a test or a hook')
    return meet(connected.sessions, [registry[context.name as DialectName]]).shared
  }
  beforeAll(async () => {
    const subject = subjects.findLast(
      ({ title, engines }) => !title.startsWith('kysely') && engines.includes(context.name),
    )
    connected = await subject?.connect(context.engine.server.url)
  })
  afterAll(() => connected?.close())
  const url = (): string => urlOf(context)

  test('inspect shows a lease, and what cannot be seen', async () => {
    const lease = await locks().lease(['cli', context.name, 'report'])
    const { output, exitCode } = await cli(['inspect', url()])
    expect(output).toMatch(new RegExp(`^${context.name} \\d+\\.`))
    expect(output).toMatch(new RegExp(`  cli\\.${context.name}\\.report +\\S+ +in \\d+ s +${lease.fence}`))
    const { inspector } = await registry[context.name as DialectName].tools()
    for (const text of inspector.blindSpots) expect(output).toContain(`  - ${text}\n`)
    expect(exitCode).toBe(0)
    await lease.release()
  })

  test('inspect --json prints what locks.inspect() gives', async () => {
    const lease = await locks().lease(['cli', context.name, 'json'])
    const { output, exitCode } = await cli(['inspect', '--json', '--server', url()])
    const inspection = JSON.parse(output) as Inspection
    expect(inspection).toMatchObject({ dialect: context.name, sessions: expect.any(Array) })
    expect(inspection.leases).toContainEqual(expect.objectContaining({ fence: lease.fence }))
    expect(exitCode).toBe(0)
    await lease.release()
  })

  test('inspect --watch looks again until it is interrupted, and then ends well', async () => {
    const abort = new AbortController()
    let output = ''
    const watching = runCli(['inspect', '--watch', '--every', '10', url()], {
      write: (text) => void (output += text),
      progress: () => {},
      isInteractive: true,
      isScreen: true,
      hasColour: false,
      columns: 100,
      signal: abort.signal,
    })
    await until(async () => output.split('\u001b[2J\u001b[H').length > 3, 'three looks')
    const lease = await locks().lease(['cli', context.name, 'watched'])
    await until(async () => output.includes(`cli.${context.name}.watched`), 'a look at the lease')
    abort.abort(new Error('interrupted'))
    expect(await watching).toEqual({ text: '', exitCode: 0 })
    await lease.release()
  })

  test('inspect --watch --json appends one line for each look', async () => {
    const abort = new AbortController()
    let output = ''
    const watching = runCli(['inspect', '--watch', '--json', '--every', '10', url()], {
      write: (text) => void (output += text),
      progress: () => {},
      isInteractive: false,
      isScreen: false,
      hasColour: true,
      columns: 100,
      signal: abort.signal,
    })
    await until(async () => output.split('\n').length > 3, 'three looks')
    abort.abort(new Error('interrupted'))
    expect((await watching).exitCode).toBe(0)
    const lines = output.trimEnd().split('\n')
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ dialect: context.name })
  })
}

describeEngines(
  (context) => {
    test('inspect has the waiter below the holder, by the key', async () => {
      const subject = subjects.find(({ engines }) => engines.includes(context.name))
      const pools = [
        await subject?.connect(context.engine.server.url),
        await subject?.connect(context.engine.server.url),
      ].filter((pool) => pool !== undefined)
      const [first, second] = pools.map(
        ({ sessions }) => meet(sessions, [registry[context.name as DialectName]]).shared,
      )
      const key = ['cli', process.pid, context.name]
      const [held, done] = [gate(), gate()]
      const holding = first?.withLock(key, async () => {
        held.open()
        await done.opened
      })
      await held.opened
      const waiting = second?.withLock(key, async () => {})
      const tree = new RegExp(
        `holds name ${key.join('\\.')} [^]*\\n└─ \\d+ .*waiting for \\d+[^]*wants name ${key.join('\\.')} `,
      )
      await until(
        async () => tree.test((await cli(['inspect', context.engine.server.url])).output),
        'a waiter below the holder',
      )
      done.open()
      await Promise.all([holding, waiting])
      for (const pool of pools) await pool.close()
    })
  },
  { only: ['postgres', 'mysql', 'mariadb'] },
)

describeEngines(
  (context) => {
    test('inspect --key shows the whole key of what another process holds', async () => {
      const subject = subjects.findLast(
        ({ title, engines }) => !title.startsWith('kysely') && engines.includes(context.name),
      )
      const pool = await subject?.connect(context.engine.server.url)
      if (pool === undefined) throw new Error('no adapter reaches the engine')
      const key = ['Cli', context.name, 7, 'a tail that no name has room for']
      const lease = await meet(pool.sessions, [registry[context.name as DialectName]]).shared.lease(key)
      const without = await printed('inspect', urlOf(context))
      expect(without).toContain(`cli.${context.name}.7.a_tail`)
      expect(without).not.toContain(key.join('.'))
      expect(await printed('inspect', '--key', 'x/1', '--key', key.join('/'), urlOf(context))).toContain(
        key.join('.'),
      )
      await lease.release()
      await pool.close()
    })
  },
  { only: ['postgres', 'sqlite'] },
)

/** What the program prints, in a process that knows no key. */
async function printed(...args: readonly string[]): Promise<string> {
  return (await promisify(execFile)(process.execPath, [await program(), ...args])).stdout
}

/** As a user writes it: files have addresses too. */
function urlOf({ name, engine }: EngineContext): string {
  const { url } = engine.server
  return url.includes('://') ? url : `${name}:${url}`
}

describe('inspect', () => {
  test.each<[string, readonly string[], RegExp]>([
    ['no address', ['inspect'], /name the address/],
    ['two addresses', ['inspect', 'sqlite:a', 'sqlite:b'], /one address/],
    ['a pause without a watch', ['inspect', '--every', '5', 'sqlite:a'], /--every/],
    ['a pause that is no number', ['inspect', '--watch', '--every', 'often', 'sqlite:a'], /--every/],
    ['an empty key', ['inspect', '--key', '', 'sqlite:a'], /--key ""/],
    ['a key with an empty part', ['inspect', '--key', 'a//b', 'sqlite:a'], /--key "a\/\/b"/],
    ['an unknown option', ['inspect', '--wait', 'sqlite:a'], /--wait/],
  ])('given %s, says so and ends with 2', async (_, args, message) => {
    const { text, exitCode } = await cli(args)
    expect(text).toMatch(message)
    expect(text).toContain('holdfast inspect [url]')
    expect(exitCode).toBe(2)
  })

  test('ends with 3 where nobody answers, and keeps the password to itself', async () => {
    const { text, exitCode } = await cli(['inspect', 'postgres://app:hush@127.0.0.1:1/app'])
    expect(exitCode).toBe(3)
    expect(text).toMatch(/^inspect: ./)
    expect(text).not.toContain('hush')
  })

  test('takes a key in every way in which it may have been meant', () => {
    expect(keysIn('image-upload/7')).toEqual([
      ['image-upload', 7n],
      ['image-upload', '7'],
      ['image-upload/7'],
    ])
    expect(keysIn('007')[0]).toEqual(['007'])
    expect(keysIn('-3/0/-0')[0]).toEqual([-3n, 0n, '-0'])
  })
})
