import { visible } from '../../../conformance/reporters/visible.ts'
import { duration } from '../../duration.ts'

/** How the figures on the page are to be taken. */
export interface Condition {
  readonly isPaused: boolean
  /** Whether the program that serves this page answers. */
  readonly hasBoard: boolean
  /** When the newest look was made, by the page's own clock. */
  readonly lookedAt: number | undefined
  readonly failure: { readonly message: string; readonly since: number } | undefined
}

/** A look each second that does not come is worth a word after this long. */
const staleMs = 4000

export interface StatusWords {
  readonly kind: 'live' | 'paused' | 'old' | 'waiting'
  readonly short: string
  /** Empty when all is well. */
  readonly long: string
}

/** What is to be said at this moment. */
export function wordsOf({ isPaused, hasBoard, lookedAt, failure }: Condition, now: number): StatusWords {
  const age = lookedAt === undefined ? undefined : now - lookedAt
  const old =
    age === undefined ? 'There are no figures yet.' : `These figures are ${duration(whole(age))} old.`
  if (isPaused)
    return {
      kind: 'paused',
      short: 'paused',
      long: `Paused: the database is not asked for this page. ${old}`,
    }
  if (!hasBoard)
    return {
      kind: 'old',
      short: 'no board',
      long: `The program that serves this page does not answer. ${old}`,
    }
  if (failure !== undefined) {
    const since = duration(whole(now - failure.since))
    return {
      kind: 'old',
      short: 'no answer',
      long: `No answer from the database for ${since}: ${visible(failure.message)}. ${old} It is looked for again and again.`,
    }
  }
  if (age === undefined) return { kind: 'waiting', short: 'looking', long: '' }
  if (age > staleMs) return { kind: 'old', short: 'late', long: `The database has not answered yet. ${old}` }
  return { kind: 'live', short: 'live', long: '' }
}

/** Below a second, nobody wants to see it count. */
function whole(ms: number): number {
  return Math.max(1000, Math.floor(ms / 1000) * 1000)
}
