/**
 * The kinds of lock that a dialect has to decide about.
 *
 * `row-exclusive` to `lock-timeout` are about rows that a query reads, `advisory` about a name, `table` about a table.
 */
export const categories = [
  'row-exclusive',
  'row-shared',
  'advisory',
  'skip-locked',
  'nowait',
  'lock-timeout',
  'table',
] as const

/** The name of a kind of lock: see {@link categories}. */
export type Category = (typeof categories)[number]

/** What each category promises, in one line: the words that errors, docs and the command line share. */
export const categoryMeaning: Readonly<Record<Category, string>> = {
  'row-exclusive': 'rows that only this transaction may change or lock until it ends',
  'row-shared': 'rows that nobody may change until this transaction ends; others may share the lock',
  advisory: 'an advisory lock: a lock on a name, not on a row',
  'skip-locked': 'rows locked by others are skipped, without waiting',
  nowait: 'a row locked by another transaction is an error at once',
  'lock-timeout': 'a wait for a row ends with an error after a given time',
  table: 'a whole table that no other transaction may change until this one ends',
}

/** Whether a word is the name of a {@link Category}. */
export function isCategory(value: unknown): value is Category {
  return categories.some((category) => category === value)
}
