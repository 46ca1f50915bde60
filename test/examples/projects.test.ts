import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

import { describeEngines } from '../engines/use.ts'
import { run } from './command.ts'
import { toldIn } from './told.ts'

const examples = new URL('../../examples/', import.meta.url)

/** The folders that are a program of their own. */
const projects = (await readdir(examples)).filter((name) => existsSync(new URL(`${name}/main.ts`, examples)))

const patience = { timeout: 600_000 }

test('there is one for Prisma, and one for Drizzle', () => {
  expect(projects).toEqual(['drizzle', 'prisma'])
})

describe.each(projects)('the project %s', (project) => {
  test('runs by itself, with no set-up', patience, async () => {
    const [story] = await toldIn(`examples/${project}`)
    const ended = await run(`examples/${project}/main.ts`)
    expect(ended).toEqual({ stdout: story?.withLock, stderr: '', exitCode: 0 })
  })

  test('says which databases it takes', patience, async () => {
    const { stderr, exitCode } = await run(`examples/${project}/main.ts`, ['--url', 'duckdb:./app.duckdb'])
    const words = 'give the address of PostgreSQL or of an SQLite file\n'
    expect({ stderr, exitCode }).toEqual({ stderr: words, exitCode: 2 })
  })

  describeEngines(
    ({ name, server }) => {
      test.each([
        ['prints what its README says', 'withLock'],
        ['shows its bugs without the locks', 'withoutLock'],
      ] as const)('%s', patience, async (_, which) => {
        const [story] = await toldIn(`examples/${project}`)
        const url = name === 'sqlite' ? `sqlite:${join(server.url, project)}` : server.url
        const args = ['--url', url, ...(which === 'withoutLock' ? ['--without-lock'] : [])]
        const ended = await run(`examples/${project}/main.ts`, args)
        expect(ended).toEqual({ stdout: story?.[which], stderr: '', exitCode: 0 })
      })
    },
    { only: ['sqlite', 'postgres'] },
  )
})
