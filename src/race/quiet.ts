/** A word that begins a transaction, and takes neither a snapshot nor a lock. */
const begins = /^(?:begin(?:\s+(?:work|transaction|deferred))?|start\s+transaction)\b/i
/** What makes it take one. */
const atOnce = /\b(?:immediate|exclusive|concurrent|snapshot)\b/i
/** `PREPARE TRANSACTION` of PostgreSQL is another thing. */
const prepares = /^prepare\s+(?!transaction\b)/i
const sets =
  /^(?:set\s+(?:local\s+|session\s+)?(?:transaction|(?:lock|statement|innodb_lock_wait)_timeout)|savepoint)\b/i

/**
 * Whether a statement changes nothing that another session could notice, and reads nothing: then it does not matter
 * which of the others' steps come between it and the next one of its own session, and nobody is let in there.
 */
export function isQuiet(text: string): boolean {
  const words = text.trim().replace(/;$/, '')
  if (words.includes(';')) return false
  return (begins.test(words) && !atOnce.test(words)) || sets.test(words) || prepares.test(words)
}

/** PostgreSQL's clocks that stand still from BEGIN on. */
const beginTime = /\b(?:now|transaction_timestamp)\s*\(|\bcurrent_(?:timestamp|date|time)\b|\blocaltime/i

/** Whether a statement may read when its transaction began: then it does matter who comes between BEGIN and the next step. */
export function readsBeginTime(text: string): boolean {
  return beginTime.test(text)
}

const comment = /\/\*[\s\S]*?\*\/|--[^\n]*/g

/** What a statement makes of the transaction of its session, as far as its text tells; of several the last one counts. */
export function effectOf(text: string): 'opens' | 'ends' | undefined {
  const effects = text.replaceAll(comment, ' ').split(';').map(effectOfOne)
  return effects.findLast((effect) => effect !== undefined)
}

function effectOfOne(statement: string): 'opens' | 'ends' | undefined {
  const words = statement.trim()
  if (/^rollback(?:\s+(?:work|transaction))?\s+to\b/i.test(words)) return undefined
  if (/^(?:begin|start\s+transaction)\b|\band\s+chain\b/i.test(words)) return 'opens'
  return /^(?:commit|rollback|end|abort)(?:transaction)?\b/i.test(words) ? 'ends' : undefined
}
