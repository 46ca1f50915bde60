import { readdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { once } from './cache-folder.ts'
import { privateFolder, type PrivateFolder } from './private-folder.ts'

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
