import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import Database from 'better-sqlite3'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { cli } from './terminal.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-application-'))
  vi.spyOn(process, 'cwd').mockReturnValue(join(folder, 'app'))
  new Database(join(folder, 'app.db')).pragma('journal_mode = WAL')
})
afterEach(async () => {
  vi.restoreAllMocks()
  await rm(folder, { recursive: true })
})

/** A package as npm would put it there. */
async function install(at: string, version: string): Promise<void> {
  const own = join(folder, at)
  await mkdir(own, { recursive: true })
  await writeFile(join(own, 'package.json'), JSON.stringify({ version }))
}

async function examined(): Promise<string> {
  const { output, exitCode } = await cli(['doctor', join(folder, 'app.db')])
  expect(exitCode).toBe(0)
  return output.replaceAll(/\s+/g, ' ')
}

test('one library is as it should be, whoever reaches it', async () => {
  await install('app/node_modules/.pnpm/better-sqlite3@12.11.1/node_modules/better-sqlite3', '12.11.1')
  await install('app/node_modules/express', '5.0.0')
  await symlink(
    join(folder, 'app/node_modules/.pnpm/better-sqlite3@12.11.1/node_modules/better-sqlite3'),
    join(folder, 'app/node_modules/better-sqlite3'),
    'junction',
  )
  expect(await examined()).not.toContain('several-libraries')
})

test.each([
  ['another package', 'app/node_modules/libsql', 'libsql 0.5.29 (node_modules/libsql)'],
  [
    'another copy of the same',
    'app/node_modules/@prisma/adapter-better-sqlite3/node_modules/better-sqlite3',
    'better-sqlite3 0.5.29 (node_modules/@prisma/adapter-better-sqlite3/node_modules/better-sqlite3)',
  ],
  ['one of a folder above', 'node_modules/sqlite3', 'sqlite3 0.5.29 (../node_modules/sqlite3)'],
])('%s is told of, and where it is', async (_, at, said) => {
  await install('app/node_modules/better-sqlite3', '12.11.1')
  await install(at, '0.5.29')
  const output = await examined()
  expect(output).toContain('warning: 2 SQLite libraries are installed: ')
  expect(output).toContain('better-sqlite3 12.11.1 (node_modules/better-sqlite3)')
  expect(output).toContain(said)
})
