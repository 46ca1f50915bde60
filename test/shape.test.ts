import { readdir } from 'node:fs/promises'
import { beforeAll, describe, expect, test } from 'vitest'

import { categories } from '../src/core/category.ts'
import { registry } from '../src/registry.ts'
import { engineNames } from './engines/engine-list.ts'
import { dialectProblems } from './shape/dialects.ts'
import { cycles, directionProblems } from './shape/imports.ts'
import { readSources, type Source } from './shape/source.ts'
import { anyProblems, dialectNameProblems, lengthProblems } from './shape/text.ts'

async function dialectFolders(): Promise<readonly string[]> {
  const entries = await readdir(new URL('../src/dialects/', import.meta.url), { withFileTypes: true })
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
}

describe('the files of the library', () => {
  let sources: readonly Source[] = []
  let folders: readonly string[] = []
  beforeAll(async () => {
    sources = await readSources()
    folders = await dialectFolders()
  })

  test('are there at all', () => {
    expect(sources.length).toBeGreaterThan(40)
    expect(folders.length).toBeGreaterThan(5)
  })

  test('import downwards only, and no package', () => {
    expect(directionProblems(sources)).toEqual([])
  })

  test('do not import each other in a circle, not even for types', () => {
    expect(cycles(sources)).toEqual([])
  })

  test('say the name of a dialect only in its own folder and in the registry', () => {
    expect(sources.flatMap((source) => dialectNameProblems(source, folders))).toEqual([])
  })

  test('are short and typed', () => {
    expect(sources.flatMap((source) => [...lengthProblems(source), ...anyProblems(source)])).toEqual([])
  })

  test('hold dialects that are registered, have decided every category, know their errors and have an engine', async () => {
    expect(
      dialectProblems({ folders, registry: { ...registry }, categories, engines: await engineNames() }),
    ).toEqual([])
  })
})
