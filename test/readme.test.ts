import { expect, test } from 'vitest'

import { printedBy, programsOf } from './docs/program.ts'

const programs = await programsOf('README.md')

test('each program in the README has its output beside it', () => {
  expect(programs.length).toBeGreaterThan(0)
  expect(programs.filter(({ prints }) => prints === undefined)).toEqual([])
})

test.each(programs.map(({ code, prints }, index) => [index + 1, code, prints] as const))(
  'program %i of the README runs and prints what the README says',
  async (_, program, output) => {
    expect(await printedBy(program)).toBe(output)
  },
)
