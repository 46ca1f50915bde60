import { LockUsageError } from '../core/errors.ts'

/** Most statements have none of these words, and are not looked at any further. */
const mayControl = /\b(?:begin|start|commit|end|abort|rollback)\b/i

/** Comments, texts and quoted names are one token each, so that nothing inside of them counts. */
const tokens =
  /--[^\n]*|\/\*[^]*?(?:\*\/|$)|e'(?:[^'\\]|\\[^]|'')*'|'[^']*'|"[^"]*"|`[^`]*`|\$(\w*)\$[^]*?\$\1\$|;|[a-z_]\w*/gi

/**
 * Refuses a text in which a statement would begin or end a transaction: the lock would be gone while the work goes on.
 *
 * A savepoint is the work's own, and so is what rolls back to one.
 */
export function refuseControl(sql: unknown): void {
  if (typeof sql !== 'string' || !mayControl.test(sql)) return
  const word = statementStarts(sql).find(isControl)?.[0]
  if (word === undefined) return
  throw new LockUsageError(
    'tx',
    `${word.toUpperCase()} is not the work's to send: return to commit, throw to roll back`,
  )
}

/** The first words of each statement, enough to tell what it is. */
function statementStarts(sql: string): readonly (readonly string[])[] {
  const starts: string[][] = []
  let words: string[] = []
  let before = ';'
  for (const [token] of sql.matchAll(tokens)) {
    const word = token.toLowerCase()
    if (word.startsWith('--') || word.startsWith('/*')) continue
    // the statements of a trigger are a part of it, up to the END that stands alone
    if (isTrigger(words)) {
      if (before === ';' && word === 'end') words = []
    } else if (before === ';') starts.push((words = [word]))
    else if (words.length < 3) words.push(word)
    before = word
  }
  return starts
}

function isTrigger([first, ...rest]: readonly string[]): boolean {
  return first === 'create' && rest.includes('trigger')
}

function isControl([first, second, third]: readonly string[]): boolean {
  if (first === 'start') return second === 'transaction'
  if (first === 'rollback') return second !== 'to' && !(second === 'transaction' && third === 'to')
  return first === 'begin' || first === 'commit' || first === 'end' || first === 'abort'
}
