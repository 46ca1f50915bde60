import { categories, type Category } from '../core/category.ts'

/**
 * The rows of the matrix that a run of the laws draws: the lock categories, and what the library builds on them.
 *
 * `advisory` is a named lock for as long as a transaction, `advisory-session` one that outlives it. `retry` is a
 * transaction that runs again when it lost.
 */
export const features: readonly Feature[] = [...categories, 'advisory-session', 'lease', 'claim', 'retry']

/** A group of laws: what a law is about. */
export type Feature = Category | 'advisory-session' | 'lease' | 'claim' | 'retry'

/** Whether a word is the name of a {@link Feature}. */
export function isFeature(value: unknown): value is Feature {
  return features.some((feature) => feature === value)
}
