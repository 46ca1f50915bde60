import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)
const tsx = fileURLToPath(new URL('../node_modules/tsx/dist/cli.mjs', import.meta.url))

/** A program that imports the library, and packages that are installed here, by their names. */
function resolveImports(program: string): string {
  return program.replaceAll(/ from '([^']+)'/g, (_, name: string) => ` from ${JSON.stringify(locate(name))}`)
}

function locate(name: string): string {
  if (name === 'holdfast') return new URL('../src/index.ts', import.meta.url).href
  const [, entry] = /^holdfast\/(.+)$/.exec(name) ?? []
  return entry === undefined
    ? pathToFileURL(createRequire(import.meta.url).resolve(name)).href
    : new URL(`../src/entries/${entry}.ts`, import.meta.url).href
}

async function printedBy(program: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-readme-'))
  try {
    const file = join(folder, 'program.mts')
    await writeFile(file, resolveImports(program))
    return (await run(process.execPath, [tsx, file])).stdout
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')
const programs = Array.from(readme.matchAll(/^```ts\n(.*?)^```/gms), ([, code = '']) => code)
const outputs = Array.from(readme.matchAll(/^```text\n(.*?)^```/gms), ([, text = '']) => text)

test('each program in the README has its output beside it', () => {
  expect(programs.length).toBeGreaterThan(0)
  expect(outputs).toHaveLength(programs.length)
})

test.each(programs.map((program, index) => [index + 1, program, outputs[index]] as const))(
  'program %i of the README runs and prints what the README says',
  async (_, program, output) => {
    expect(await printedBy(program)).toBe(output)
  },
)
