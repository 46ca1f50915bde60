/** A word that begins a transaction, and takes neither a snapshot nor a lock. */
const begins = /^(?:begin(?:\s+(?:work|transaction|deferred))?|start\s+transaction)\b/i
/** What makes it take one. */
const atOnce = /\b(?:immediate|exclusive|concurrent|snapshot)\b/i
const sets =
  /^(?:set\s+(?:local\s+|session\s+)?(?:transaction|(?:lock|statement|innodb_lock_wait)_timeout)|savepoint)\b/i

/**
 * Whether a statement changes nothing that another session could notice, and reads nothing: then it does not matter
 * which of the others' steps come between it and the next one of its own session, and nobody is let in there.
 */
export function isQuiet(text: string): boolean {
  const words = text.trim().replace(/;$/, '')
  if (words.includes(';')) return false
  return (begins.test(words) && !atOnce.test(words)) || sets.test(words)
}

/** What a statement makes of the transaction of its session, as far as its text tells. */
export function effectOf(text: string): 'opens' | 'ends' | undefined {
  const words = text.trim()
  if (/^rollback\s+to\b/i.test(words)) return undefined
  if (/^(?:begin|start\s+transaction)\b/i.test(words)) {
    return /;\s*(?:commit|rollback|end)\b/i.test(words) ? undefined : 'opens'
  }
  return /^(?:commit|rollback|end|abort)(?:transaction)?\b/i.test(words) ? 'ends' : undefined
}
