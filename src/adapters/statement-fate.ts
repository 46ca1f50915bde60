/** What a statement does to the transaction it is sent in, as far as its text tells. */
export type Fate = 'keeps' | 'ends' | 'unsure'

export interface FateWords {
  /** What a statement starts with that ends the transaction, or begins another. */
  readonly ends: string
  /** What one starts with that certainly does not. Left out where all the others do not. */
  readonly keeps?: string
}

/** Blanks and comments ahead of a statement, but not the comments that MySQL and MariaDB run. */
export const lead: string = String.raw`^(?:\s|\(|--[^\n]*\n|#[^\n]*\n|/\*(?!!|M!)[^]*?\*/)*`

export type FateOf = (sql: string) => Fate

/** Reads the beginning of a statement only. A text of several statements is `unsure`, unless the first one decides. */
export function fateBy(words: FateWords): FateOf {
  const fateOf = fateOfOne(words)
  return (sql) => {
    const fate = fateOf(sql)
    return fate === 'ends' || !isSeveral(sql) ? fate : 'unsure'
  }
}

/** Whether a text may hold several statements. */
export function isSeveral(sql: string): boolean {
  const place = sql.indexOf(';')
  return place >= 0 && place !== sql.trimEnd().length - 1
}

/** For a driver that sends no more than one statement at a time: a semicolon stands in a value. */
export function fateOfOne({ ends, keeps }: FateWords): FateOf {
  const ending = new RegExp(`${lead}(?:${ends})\\b`, 'i')
  const keeping = keeps === undefined ? undefined : new RegExp(`${lead}(?:${keeps})\\b`, 'i')
  return (sql) => {
    if (keeping?.test(sql) === true) return 'keeps'
    if (ending.test(sql)) return 'ends'
    return keeping === undefined ? 'keeps' : 'unsure'
  }
}

/** Not the word that goes back to a savepoint. */
export const rollbackOfAll: string = String.raw`rollback(?!\s+(?:(?:work|transaction)\s+)?to\b)`
