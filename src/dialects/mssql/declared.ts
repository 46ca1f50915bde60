import type { DeclaredTraits } from '../declared.ts'
import { countInBatch } from './optimistic.ts'

export const declared: DeclaredTraits = { counted: countInBatch }
