import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)
const library = new URL('../src/index.ts', import.meta.url).href
const tsx = fileURLToPath(new URL('../node_modules/tsx/dist/cli.mjs', import.meta.url))

/** What a program prints that imports the library by its name. */
async function printedBy(program: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-readme-'))
  try {
    const file = join(folder, 'program.mts')
    await writeFile(file, program.replaceAll(`'holdfast'`, JSON.stringify(library)))
    return (await run(process.execPath, [tsx, file])).stdout
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

test('the code in the README runs and prints what the README says', async () => {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')
  const [program] = Array.from(readme.matchAll(/^```ts\n(.*?)^```/gms), ([, code]) => code)
  const [output] = Array.from(readme.matchAll(/^```text\n(.*?)^```/gms), ([, text]) => text)
  expect(program).toBeDefined()
  expect(await printedBy(program ?? '')).toBe(output)
})
