import { fateBy, rollbackOfAll, type FateOf } from '../statement-fate.ts'

/** What a text does to a transaction of DuckDB, whose reader of texts comes from PostgreSQL's. */
export const fateOf: FateOf = fateBy({
  spelling: {
    quotes: `'"`,
    backslashes: 'after E',
    hasDollarQuotes: true,
    endsLinesAtReturn: true,
    nestsComments: true,
  },
  ends: `commit|${rollbackOfAll}|begin|start transaction|end|abort`,
})
