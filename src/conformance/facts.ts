import type { Category } from '../core/category.ts'
import type { Plan } from '../core/plan.ts'
import type { RequestOf } from '../core/request.ts'
import type { Support } from '../core/support.ts'
import type { Dialect } from '../dialects/dialect.ts'
import type { DialectTools } from '../dialects/tools.ts'

/** What a law may ask about the database it is run on. It never asks for its name. */
export interface Facts {
  readonly dialect: Dialect
  readonly version: string
  readonly tools: DialectTools
  readonly support: (category: Category) => Support
  /** The plan of a lock here; undefined where it cannot be had. */
  readonly plan: <C extends Category>(category: C, request?: Partial<RequestOf<C>>) => Plan | undefined
  /** Whether the server can be told to end a session. */
  readonly canKill: boolean
}
