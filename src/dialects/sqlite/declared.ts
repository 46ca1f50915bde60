import type { DeclaredTraits } from '../declared.ts'
import { countReturned } from '../optimistic-sql.ts'

export const declared: DeclaredTraits = { counted: countReturned }
