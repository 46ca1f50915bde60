import { letter, runMarksIn, statementsOf, wordsOf, type Spelling } from './sql-text.ts'

/** What a text does to the transaction it is sent in, as far as it tells. Of one that ends it: the words that do. */
export type Fate = 'keeps' | 'unsure' | { readonly ends: string }

export type FateOf = (sql: string) => Fate

/** The words are in lower case, with one blank between two and no comments. */
export interface FateWords {
  readonly spelling: Spelling
  /** What a statement starts with that ends the transaction or its locks, or begins another. */
  readonly ends: string
  /** What one starts with that certainly does not. Left out where all the others do not. */
  readonly keeps?: string
  /** What one starts with that has others inside, and what stands in it that ends the transaction. */
  readonly blocks?: { readonly of: string; readonly ends: string }
}

/** In a pattern: no letter follows. */
export const wordEnd: string = `(?!${letter})`

/** Not the word that goes back to a savepoint. */
export const rollbackOfAll: string = `rollback(?! (?:(?:work|transaction) )?to${wordEnd})`

/**
 * Reads every statement of a text before it is sent. Where the server may read a quote in another way, an end that only
 * stands in that reading is looked after, and not refused: unless it begins another transaction, which looks like the first.
 *
 * `isOne`: the driver sends no more than one statement at a time, so a semicolon stands in a value.
 */
export function fateBy({ spelling, ends, keeps, blocks }: FateWords, isOne = false): FateOf {
  const block = blocks && { of: new RegExp(`^(?:${blocks.of})${wordEnd}`), ends: new RegExp(blocks.ends) }
  const ending = new RegExp(`^(?:${ends})${wordEnd}`)
  const keeping = keeps === undefined ? undefined : new RegExp(`^(?:${keeps})${wordEnd}`)
  const most = isOne ? 1 : Infinity
  const read = (sql: string, as: Spelling): Fate => {
    const statements = statementsOf(sql, as, most)
    const deciding = statements.find((statement) => ending.test(statement))
    if (deciding !== undefined) return { ends: deciding }
    if (block !== undefined && statements.some((statement) => block.of.test(statement))) {
      const inside = block.ends.exec(wordsOf(sql, as))?.[1]
      if (inside !== undefined) return { ends: inside }
    }
    const areKnown = keeping === undefined || statements.every((statement) => keeping.test(statement))
    return areKnown ? 'keeps' : 'unsure'
  }
  return (sql) => {
    if (isPlain(sql, isOne)) return 'keeps'
    let fate = read(sql, spelling)
    for (const { as, decides } of otherReadings(sql, spelling)) {
      if (typeof fate === 'object') break
      const other = as === undefined ? 'unsure' : read(sql, as)
      if (decides ? other !== 'keeps' : typeof other === 'object')
        fate = decides || (as !== undefined && beginsAnother(sql, as)) ? other : 'unsure'
    }
    return fate
  }
}

function beginsAnother(sql: string, as: Spelling): boolean {
  return statementsOf(sql, as).some((statement) => beginning.test(statement))
}

const beginning = new RegExp(`^(?:begin|start transaction|.* and chain)${wordEnd}`)

const plainStart = /^[\t-\r ]*(?:select|insert|update|delete|with)[\t-\r ]/i

/** Nearly all texts are, and cost no more than this look: a statement that keeps every transaction, and nothing else. */
export function isPlain(sql: string, isOne: boolean): boolean {
  if (!plainStart.test(sql)) return false
  const place = isOne ? -1 : sql.indexOf(';')
  return place < 0 || place === sql.length - 1
}

/** How a server may read a text that has other settings or another version. */
interface OtherReading {
  /** Absent where there are too many. */
  readonly as?: Spelling
  /** What it finds is refused as well, and not only looked after. */
  readonly decides: boolean
}

function otherReadings(sql: string, spelling: Spelling): readonly OtherReading[] {
  const others: OtherReading[] = []
  if (spelling.runsComments !== undefined && sql.includes('!')) {
    const marks = runMarksIn(sql)
    // a comment with a number is run from that version on: none of them, one, or all but one
    const sets =
      marks.length === 0 ? [] : [[], ...marks.flatMap((mark) => [[mark], marks.filter((it) => it !== mark)])]
    for (const run of sets)
      for (const nests of spelling.nestsSkipped ?? [() => false])
        others.push({
          as: { ...spelling, runsComments: (mark) => run.includes(mark), nestsSkipped: [nests] },
          decides: true,
        })
    if (marks.length > 3) others.push({ decides: true })
  }
  if (spelling.backslashes === 'everywhere' && sql.includes('\\'))
    for (const backslashes of ['in apostrophes', 'nowhere'] as const)
      others.push({ as: { ...spelling, backslashes }, decides: false })
  return others
}
