import type { DeclaredTraits } from '../declared.ts'
import { countChanged } from './optimistic.ts'

/** MariaDB's too. */
export const declared: DeclaredTraits = { counted: countChanged }
