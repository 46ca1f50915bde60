import { LockUsageError } from '../../core/errors.ts'
import { wireOf } from '../orm/wire.ts'
import type { Insides } from './instance.ts'

/** What Sequelize is told about locks by the options of a query, and what decides where it writes them. */
interface LockWords {
  readonly transaction?: object | null
  readonly lock?: unknown
  readonly skipLocked?: boolean
  readonly subQuery?: boolean
  readonly limit?: unknown
  readonly hasMultiAssociation?: boolean
  readonly groupedLimit?: unknown
}

/** What a database makes of Sequelize's words. */
export interface Spoken {
  /** Whether Sequelize writes SKIP LOCKED for it. */
  readonly skips: boolean
  /** Whether a lock at the end of a SELECT is also one on the rows of a query inside of its FROM. */
  readonly locksInside: boolean
}

const known = new WeakSet<object>()

/** In Holdfast's transactions, words for a lock that would be dropped in silence are refused. */
export function refuseDropped(sequelize: Insides, spoken: Spoken): void {
  if (known.has(sequelize)) return
  known.add(sequelize)
  sequelize.addHook('beforeQuery', (options) => {
    const words = options as LockWords
    if (words.transaction == null || wireOf(words.transaction) === undefined) return
    const reason = whyDropped(words, spoken)
    if (reason !== undefined) throw new LockUsageError('lock', reason)
  })
}

function whyDropped(words: LockWords, { skips, locksInside }: Spoken): string | undefined {
  if (words.skipLocked === true && !(skips && isLock(words)))
    return `skipLocked is left out by Sequelize ${skips ? 'without lock' : 'on this database'}: use locks.rows with wait: 'skip'`
  if (isLock(words) && !locksInside && hasInnerQuery(words))
    return 'limit with rows of an association is a query inside of FROM, whose rows this database does not lock: lock the rows first, and read the others after it'
  return undefined
}

function isLock({ lock }: LockWords): boolean {
  return lock !== undefined && lock !== null && lock !== false && lock !== ''
}

/** As Sequelize decides it. */
function hasInnerQuery({ subQuery, limit, hasMultiAssociation, groupedLimit }: LockWords): boolean {
  return groupedLimit !== undefined || (subQuery ?? (Boolean(limit) && hasMultiAssociation === true))
}
