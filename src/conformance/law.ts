import type { Facts } from './facts.ts'
import { isFeature, type Feature } from './feature.ts'
import type { Stage } from './stage.ts'
import type { Step } from './step.ts'
import type { Sabotage } from './subject.ts'

interface AnyLaw {
  /** Short and stable: `R1`. */
  readonly id: string
  /** The promise, in one sentence. */
  readonly says: string
  /** What it is about, first the one whose cell it decides. */
  readonly features: readonly [Feature, ...Feature[]]
  /** The table when it begins: a number for each id. @default empty */
  readonly rows?: Readonly<Record<number, number>>
  /** Why it does not speak about such a database; undefined when it does. */
  readonly unless?: (facts: Facts) => string | undefined
  /** It is about the refusal of its features, so it is run where they are refused. @default false */
  readonly aboutRefusal?: boolean
  /** What makes it fail: the law is worth something only because it then does. */
  readonly control: Sabotage
}

/** A race that is written down step by step. */
export interface ScheduleLaw extends AnyLaw {
  readonly schedule: readonly Step[] | ((facts: Facts) => readonly Step[])
}

/** A race that is run in every order that its sessions' steps can take. */
export interface InterleavedLaw extends AnyLaw {
  readonly interleave: Readonly<Record<string, readonly Step[]>>
  /** What is wrong with the table afterwards; undefined when nothing is. */
  readonly always: (rows: ReadonlyMap<number, number>) => string | undefined
}

/** A law that needs more than the words of schedules have. */
export interface TrialLaw extends AnyLaw {
  readonly trial: (stage: Stage) => Promise<void>
}

/** A promise, and how it is tried. */
export type Law = ScheduleLaw | InterleavedLaw | TrialLaw

/** A law of yours or ours, checked. */
export function defineLaw<const L extends Law>(law: L): L {
  if (!/^[A-Za-z][\w.-]*$/.test(law.id)) throw new TypeError(`${JSON.stringify(law.id)} is no id for a law`)
  const stranger = law.features.find((feature) => !isFeature(feature))
  if (stranger !== undefined) throw new TypeError(`law ${law.id}: ${JSON.stringify(stranger)} is no feature`)
  return law
}
