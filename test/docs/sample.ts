import { expect } from 'vitest'

import { parsePage } from './page.ts'
import { planOf, type Plan } from './plan.ts'
import { runProgram } from './run.ts'
import type { EngineName } from './words.ts'

/** The plan of a page that is given as text. Its blocks stand between `~~~` here. */
export function planFor(markdown: string, name = 'docs/sample.md'): Plan {
  return planOf(parsePage(name, markdown))
}

/** What is wrong with a page's one program: the message of its failure, or nothing. */
export async function wrongIn(markdown: string, engine?: EngineName): Promise<string> {
  const { problems, programs } = planFor(markdown)
  expect(problems).toEqual([])
  const [program] = programs
  if (program === undefined) throw new Error('the page has no program')
  return runProgram(program, engine && { engine, isKysely: false }).then(
    () => '',
    (error: unknown) => (error as Error).message,
  )
}
