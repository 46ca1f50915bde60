import { beforeAll, describe, expect, test } from 'vitest'

import { canCompile, compile } from './compile.ts'
import { placeOf, readPages } from './page.ts'
import { planOf } from './plan.ts'

const pages = (await readPages()).map((page) => ({
  name: page.name,
  programs: planOf(page).programs.filter(({ fence }) => canCompile(fence)),
}))
let compiled: Awaited<ReturnType<typeof compile>> | undefined

beforeAll(async () => {
  compiled = await compile(pages.flatMap(({ programs }) => programs))
}, 600_000)

describe.each(pages.filter(({ programs }) => programs.length > 0))('$name', ({ programs }) => {
  test.each(programs.map((one) => [placeOf(one.fence), one] as const))(
    '%s compiles, but for what it says',
    (_, program) => {
      expect(compiled?.get(program)?.join('\n')).toBe('')
    },
  )
})
