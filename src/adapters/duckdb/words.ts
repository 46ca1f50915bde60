import { fateBy, rollbackOfAll, type FateOf } from '../statement-fate.ts'

/** What a text does to a transaction of DuckDB, whose reader of texts comes from PostgreSQL's. */
export const fateOf: FateOf = fateBy({
  spelling: {
    quotes: `'"`,
    wideBlanks: /[\u00a0\u2000-\u200b\u202f\u205f\u2060\u3000\ufeff]/g,
    backslashes: 'after E',
    hasDollarQuotes: true,
    endsLinesAtReturn: true,
    nestsComments: true,
  },
  // it overlooks letters beyond ASCII at the end of a statement
  ends: `(?:commit|${rollbackOfAll}|begin|start transaction|end|abort)[^\\0-\\x7f]*`,
})
