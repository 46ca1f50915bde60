import { fateBy, wordEnd, type FateOf } from '../statement-fate.ts'

/** What a text does to a transaction of SQLite. */
export const fateOf: FateOf = fateBy({
  spelling: {
    quotes: `'"\`[`,
    // a byte order mark that stands within no word
    wideBlanks: /(?<![\w$\x80-\ufefe\uff00-\uffff])\ufeff/g,
    nests: { of: /^(?:explain (?:query plan )?)?create (?:temp |temporary )?trigger /, from: / begin$/ },
  },
  // a transaction may have a name, which means nothing
  ends: String.raw`commit|end|begin|rollback(?! (?:transaction (?:[^ ]+ )?)?to${wordEnd})`,
})
