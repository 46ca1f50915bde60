import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'

import { fixes } from './fixes.ts'

test.each(fixes)('what takes a fix out is still in the source: $name', async ({ changes }) => {
  for (const { file, from } of changes) {
    const source = await readFile(file, 'utf8')
    expect(source.split(from), `${file}: ${from}`).toHaveLength(2)
  }
})
