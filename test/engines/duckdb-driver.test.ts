import { execFile } from 'node:child_process'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { privateFolder, type PrivateFolder } from './private-folder.ts'

const tests = fileURLToPath(new URL('..', import.meta.url))

/** Makes a process lack DuckDB's library, as on a machine for which npm found none. */
const HIDE = `
  const Module = require('node:module')
  const resolve = Module._resolveFilename
  Module._resolveFilename = function (request, ...rest) {
    if (/^@duckdb.node-bindings-/.test(request)) throw new Error('no library for this machine')
    return resolve.call(this, request, ...rest)
  }`

let place: PrivateFolder
beforeAll(async () => {
  place = await privateFolder('hide')
  await writeFile(join(place.path, 'hide.cjs'), HIDE)
})
afterAll(() => place.remove())

/** What `npm run engines` says in such a process. */
function showEngines(env: NodeJS.ProcessEnv): Promise<{ code: unknown; said: string }> {
  const program = ['--require', join(place.path, 'hide.cjs'), '--import', 'tsx', 'test/engines/table.ts']
  const options = { cwd: join(tests, '..'), env: { ...process.env, ...env } }
  return new Promise((resolve) => {
    execFile(process.execPath, program, options, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, said: stdout + stderr }),
    )
  })
}

test('an engine whose library does not load is not there, with the reason, and the others are', async () => {
  const { code, said } = await showEngines({ HOLDFAST_ENGINES: 'sqlite,duckdb', HOLDFAST_REQUIRE: 'sqlite' })
  expect(said).toMatch(/^sqlite +\d+\.\d+\.\d+ +embedded/m)
  expect(said).toContain('duckdb is not here:\n  embedded: no library for this machine')
  expect(code).toBe(0)
})

test('it fails what requires it', async () => {
  const { code, said } = await showEngines({ HOLDFAST_ENGINES: 'duckdb', HOLDFAST_REQUIRE: 'duckdb' })
  expect(said).toMatch(/HOLDFAST_REQUIRE asks for engines .*\n {2}duckdb: embedded: no library/)
  expect(code).toBe(1)
})

test('no test file loads the library before it is asked for', async () => {
  const files = (await readdir(tests, { recursive: true })).filter((name) => name.endsWith('.ts'))
  const texts = await Promise.all(files.map((name) => readFile(join(tests, name), 'utf8')))
  const early = /^import (?!type )[^']*? from '@duckdb\/node-api'$/m
  expect(files.filter((_, index) => early.test(texts[index] ?? ''))).toEqual([])
})
