import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

import { expect, test } from 'vitest'

import { buildCli } from './built.ts'
import { cli } from './terminal.ts'

const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string
}

test.each(['--version', '-v'])('%s prints the version of the package', async (word) => {
  expect(await cli([word])).toMatchObject({ output: `${version}\n`, exitCode: 0 })
})

test('the program as it is published knows its version, too', async () => {
  const { program, remove } = await buildCli()
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [program, '--version'])
    expect(stdout).toBe(`${version}\n`)
  } finally {
    await remove()
  }
})

test('help is --help', async () => {
  const all = await cli(['--help'])
  expect(all.output).toMatch(/^Usage:\n {2}holdfast verify /)
  expect(await cli(['help'])).toEqual(all)
  expect(all.output).toContain('holdfast --version')
})

test('help with the name of a command is that of the command', async () => {
  expect(await cli(['help', 'doctor'])).toEqual(await cli(['doctor', '--help']))
})

test('help for what is not a command says so', async () => {
  const { text, exitCode } = await cli(['help', 'docter'])
  expect(text).toMatch(/^holdfast: "docter" is not a command; did you mean doctor\?\n\nUsage:/)
  expect(exitCode).toBe(2)
})

test.each([
  [['doctor', '--jsn'], /^doctor: --jsn is not an option; did you mean --json\?\n\nUsage: holdfast doctor/],
  [['inspect', '--wat'], /^inspect: --wat is not an option; did you mean --watch\?\n/],
  [['schema', '--nothing-like-it'], /^schema: --nothing-like-it is not an option\n/],
  [['nothing-like-it'], /^holdfast: "nothing-like-it" is not a command\n/],
  [
    ['explain', 'postgres', 'advisory', '--wait', '1x'],
    /^--wait: "1x" is none of block, nowait, skip and a number of m/,
  ],
  [['doctor', ''], /^doctor: the address is empty: write one like postgres:\/\//],
  [['inspect', 'http://ada:secret@localhost/'], /^inspect: no driver is known for http:\/\/: write one like/],
  [['doctor', 'postgres'], /^doctor: the address has no protocol: write one like/],
  [['verify', 'oracle://localhost/app'], /^verify: no driver is known for oracle:\/\/: write one like/],
])('%j is not understood, and says what is', async (args, words) => {
  const { text, exitCode } = await cli(args)
  expect(text).toMatch(words)
  expect(text).not.toContain('secret')
  expect(exitCode).toBe(2)
})

test('the help of inspect says that it prints the statements of others', async () => {
  expect((await cli(['inspect', '--help'])).output).toContain('It prints the statements of other sessions')
})
