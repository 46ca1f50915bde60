import { chmod, readdir, truncate, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'

import { once } from './cache-folder.ts'
import { privateFolder, type PrivateFolder } from './private-folder.ts'
import { runCommand } from './run-command.ts'

let place: PrivateFolder
beforeAll(async () => {
  place = await privateFolder('cache')
})
afterAll(() => place.remove())

test('of many that want the same folder at once, one makes it and all get it', async () => {
  const folder = join(place.path, 'wanted-by-many')
  let makers = 0
  const make = async (draft: string): Promise<void> => {
    makers += 1
    await writeFile(join(draft, 'made'), String(makers))
  }
  expect(await Promise.all(Array.from({ length: 8 }, () => once(folder, make)))).toEqual(
    Array(8).fill(folder),
  )
  expect(makers).toBe(1)
  expect(await readdir(folder)).toEqual(['made'])
})

test('what failed half-way leaves nothing, and the next one makes it', async () => {
  const folder = join(place.path, 'fails-first')
  const fail = async (draft: string): Promise<void> => {
    await writeFile(join(draft, 'half'), '')
    throw new Error('the network is gone')
  }
  await expect(once(folder, fail)).rejects.toThrow('the network is gone')
  expect((await readdir(dirname(folder))).filter((name) => name.startsWith('fails-first'))).toEqual([])
  await once(folder, (draft) => writeFile(join(draft, 'whole'), ''))
  expect(await readdir(folder)).toEqual(['whole'])
})

describe('a program in the cache that does not start', () => {
  afterEach(() => vi.restoreAllMocks())

  let made = 0
  const make = async (draft: string): Promise<void> => {
    made += 1
    const program = join(draft, 'program')
    await writeFile(program, '#!/bin/sh\necho 1.0\n')
    await chmod(program, 0o755)
  }
  const check = (folder: string): Promise<string> => runCommand(join(folder, 'program'), ['--version'])
  /** A folder whose program was cut to this. */
  const damaged = async (name: string): Promise<string> => {
    const folder = await once(join(place.path, name), make, check)
    await truncate(join(folder, 'program'), 4) // no interpreter of this name is there
    made = 0
    return folder
  }

  test('is made again, by one of many, and a line says so', async () => {
    const folder = await damaged('cut')
    const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    await Promise.all(Array.from({ length: 4 }, () => once(folder, make, check)))
    expect(made).toBe(1)
    const lines = said.mock.calls
      .map(([line]) => String(line))
      .filter((line) => line.includes('making it again'))
    expect(lines).toEqual([
      expect.stringMatching(/^engines: .*cut does not work \(.*program .*\): making it again\n$/),
    ])
    expect(await check(folder)).toBe('1.0\n')
    expect((await readdir(place.path)).filter((name) => name.startsWith('cut'))).toEqual(['cut'])
    await once(folder, make, check)
    expect(made).toBe(1)
  })

  test('stays as it is when it cannot be made again, which is then the error', async () => {
    const folder = await damaged('offline')
    const fail = (): Promise<void> => Promise.reject(new Error('the network is gone'))
    await expect(once(folder, fail, check)).rejects.toThrow('the network is gone')
    expect(await readdir(folder)).toEqual(['program'])
  })

  test('is made again once only, and then blamed', async () => {
    const folder = await damaged('hopeless')
    const makeBadly = async (draft: string): Promise<void> => {
      await make(draft)
      await truncate(join(draft, 'program'), 4)
    }
    await expect(once(folder, makeBadly, check)).rejects.toThrow(/program /)
    expect(made).toBe(1)
  })
})
