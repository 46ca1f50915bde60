import { cp, mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'

import { describeEngines } from '../engines/use.ts'
import { run, runTsxIn, type Ended } from './command.ts'
import { told } from './told.ts'

const root = new URL('../../', import.meta.url)
const names = told.map(({ story }) => story)
/** Databases that are files have no address in the tests, but a folder. */
const addressOf = (name: string, url: string): string =>
  url.startsWith('/') ? `${name}:${join(url, 'story')}` : url.replace(/^mysql:/, `${name}:`)

test('the README of the examples tells what each story prints, with the lock and without it', async () => {
  const files = await readdir(new URL('examples', root))
  expect(names).toHaveLength(10)
  expect(files.filter((file) => file.endsWith('.ts')).toSorted()).toEqual(
    names.map((story) => `${story}.ts`).toSorted(),
  )
  for (const { story, withLock, withoutLock } of told) expect(withLock, story).not.toBe(withoutLock)
})

test('a fresh clone needs no build: one command runs a story', { timeout: 600_000 }, async () => {
  const clone = await mkdtemp(join(tmpdir(), 'holdfast-clone-'))
  try {
    for (const part of ['src', 'examples', 'package.json', 'tsconfig.json'])
      await cp(new URL(part, root), join(clone, part), { recursive: true })
    await symlink(fileURLToPath(new URL('node_modules', root)), join(clone, 'node_modules'), 'junction')
    const { stdout, stderr } = await runTsxIn(clone, 'examples/quota.ts')
    expect({ stdout, stderr }).toEqual({
      stdout: told.find(({ story }) => story === 'quota')?.withLock,
      stderr: '',
    })
  } finally {
    await rm(clone, { recursive: true })
  }
})

test('each story runs by itself, with no set-up', { timeout: 600_000 }, async () => {
  const waiting = [...told]
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { story, withLock } = next
      expect(await run(`examples/${story}.ts`), story).toEqual({ stdout: withLock, stderr: '', exitCode: 0 })
    }
  }
  await Promise.all([work(), work(), work()])
})

describeEngines(
  ({ name, server }) => {
    let played: readonly [Ended, Ended]

    beforeAll(async () => {
      const args = [names.join(','), '--url', addressOf(name, server.url)]
      const play = 'test/examples/play.ts'
      played = await Promise.all([run(play, args), run(play, [...args, '--without-lock'])])
    }, 600_000)

    test.each(told)('$story prints what the README says', ({ story, withLock }) => {
      expect(outputOf(played[0], story)).toBe(withLock)
    })

    test.each(told)('$story shows its bug without the lock', ({ story, withoutLock }) => {
      expect(outputOf(played[1], story)).toBe(withoutLock)
    })

    test('nothing went wrong on the way and was only told', () => {
      for (const { stderr, exitCode } of played)
        expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 })
    })
  },
  { only: ['sqlite', 'duckdb', 'postgres', 'mysql', 'mariadb', 'mongodb'] },
)

function outputOf({ stdout }: Ended, story: string): string | undefined {
  const [, output] = stdout.split(`## ${story}\n`)
  return output?.split(/^## /m, 1)[0]
}
