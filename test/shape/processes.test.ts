import { describe, expect, test } from 'vitest'

import { alone, testFiles } from '../processes.ts'
import { readSource } from './source.ts'

/** What reaches other files of the same process, or hears of them. */
const telling =
  /useFakeTimers|vi\.mock\(|moveForward|createTestLocks|useCLS|setFlagsFromString|getActiveResourcesInfo|process\.on\(|node:diagnostics_channel/

/** It has the words in it, too. */
const here = 'test/shape/processes.test.ts'

const { long, early, shared, alone: ownProcess } = testFiles()

describe('a test file', () => {
  test('stands in one list, and each name in the lists is a file or a folder', () => {
    const all = [...long, ...early, ...shared, ...ownProcess]
    expect(all.length).toBeGreaterThan(300)
    expect(new Set(all).size).toBe(all.length)
    const names = Object.values(alone).flat()
    expect(names.filter((name) => !all.some((path) => path.startsWith(`test/${name}`)))).toEqual([])
  })

  test('that shares its process does nothing to it, as far as its text tells', async () => {
    const sources = await Promise.all([...early, ...shared].filter((path) => path !== here).map(readSource))
    const found = sources.filter(({ text }) => telling.test(text)).map(({ path }) => path)
    expect(found, 'name it in test/processes.ts').toEqual([])
  })

  test('is told of by its text when it does', async () => {
    const sources = await Promise.all(ownProcess.map(readSource))
    expect(sources.filter(({ text }) => telling.test(text)).length).toBeGreaterThan(ownProcess.length / 2)
  })
})
