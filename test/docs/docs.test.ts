import { readdir } from 'node:fs/promises'

import { describe, expect, test } from 'vitest'

import { printedBy, programsOf } from './program.ts'

const pages = (await readdir(new URL('../../docs/', import.meta.url)))
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/${name}`)

describe.each(pages)('%s', async (page) => {
  const programs = await programsOf(page)

  test.each(programs.map((program, index) => ({ ...program, number: index + 1 })))(
    'program $number runs and prints what the page says',
    async ({ code, prints }) => {
      expect(prints, 'what stands behind it').toBeDefined()
      expect(await printedBy(code)).toBe(prints)
    },
  )
})
