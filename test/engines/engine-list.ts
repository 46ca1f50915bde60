import { readdir, readFile } from 'node:fs/promises'
import { basename } from 'node:path'

import type { EngineKind } from './engine.ts'

/** The names of all engines: the files of this folder that have a default export. */
export async function engineNames(): Promise<readonly string[]> {
  const folder = new URL('./', import.meta.url)
  const files = (await readdir(folder)).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  const texts = await Promise.all(files.map((name) => readFile(new URL(name, folder), 'utf8')))
  return files
    .filter((_, index) => /^export default /m.test(texts[index] ?? ''))
    .map((name) => basename(name, '.ts'))
    .toSorted()
}

/** One engine by its name. Its file, and with it the database's driver, is loaded only now. */
export async function loadEngine(name: string): Promise<EngineKind> {
  const module = (await import(new URL(`./${name}.ts`, import.meta.url).href)) as { default: EngineKind }
  return module.default
}

/** The engines that a variable of the environment names, or `undefined` when it is not set, or empty. */
export async function namedIn(variable: string): Promise<readonly string[] | undefined> {
  const text = process.env[variable] ?? ''
  if (text === '') return undefined
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  const known = await engineNames()
  if (names.length === 0) {
    throw new Error(
      `${variable} is ${JSON.stringify(text)}, which names none; the engines are ${known.join(', ')}`,
    )
  }
  const unknown = names.filter((name) => !known.includes(name))
  if (unknown.length > 0) {
    throw new Error(`${variable} names ${unknown.join(', ')}; the engines are ${known.join(', ')}`)
  }
  return names
}
