import { filesOfAdapter } from '../files/adapter.ts'
import { filesOfCategory } from '../files/category.ts'
import { filesOfDialect } from '../files/dialect.ts'
import { filesOfLaw } from '../files/law.ts'
import type { Generator } from '../place.ts'

const measures: Readonly<Record<string, () => Promise<string>>> = {
  dialect: filesOfDialect,
  category: filesOfCategory,
  law: filesOfLaw,
  adapter: filesOfAdapter,
}

/** What it takes to add something, counted on the smallest of its kind that is there. */
export const files: Generator = ([what = '', ...rest]) => {
  const measure = Object.hasOwn(measures, what) ? measures[what] : undefined
  if (measure === undefined || rest.length > 0)
    throw new Error(`takes one of ${Object.keys(measures).join(', ')}`)
  return measure()
}
