import { fateBy, type FateOf } from '../statement-fate.ts'

/** What a text does to a transaction of SQLite. */
export const fateOf: FateOf = fateBy({
  spelling: {
    quotes: `'"\`[`,
    nests: { of: /^(?:explain (?:query plan )?)?create (?:temp |temporary )?trigger /, from: / begin$/ },
  },
  // a transaction may have a name, which means nothing
  ends: String.raw`commit|end|begin|rollback(?! (?:transaction (?:\S+ )?)?to\b)`,
})
