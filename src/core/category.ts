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

export type Category = (typeof categories)[number]

/** What each category promises, in one line: the words that errors, docs and the command line share. */
export const categoryMeaning: Readonly<Record<Category, string>> = {
  'row-exclusive': 'rows that only this transaction may change or lock until it ends',
  'row-shared': 'rows that nobody may change until this transaction ends; others may share them',
  advisory: 'a named lock that belongs to no row',
  'skip-locked': 'rows that are locked by others are left out, without waiting',
  nowait: 'a row that is locked by another is an error at once',
  'lock-timeout': 'a wait for a row ends with an error after a given time',
  table: 'a whole table that nobody else may change until this transaction ends',
}

export function isCategory(value: unknown): value is Category {
  return categories.some((category) => category === value)
}
