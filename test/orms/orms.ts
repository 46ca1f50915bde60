import { drizzle } from './drizzle.ts'
import type { Orm } from './stage.ts'

/** The ORMs that the specs run through. */
export const orms: readonly Orm[] = [drizzle]
