import type { Seam } from './seam.ts'
import { pg } from './seams/pg.ts'

/** The one list of what can be explored. */
export const seams: readonly Seam[] = [pg]
