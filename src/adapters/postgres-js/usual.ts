import { LockUsageError } from '../../core/errors.ts'
import { mustHave } from '../must-have.ts'
import type { PostgresJsOptions, PostgresJsSql } from './driver.ts'

/** Throws for what is not the function of postgres.js, and for one that changes what Holdfast reads. */
export function mustBeSql(sql: PostgresJsSql): void {
  const pass = 'the function that postgres() gives, as in createLocks(postgres(url))'
  mustHave(sql, { field: 'sql', methods: ['unsafe', 'typed', 'begin', 'end'], pass, from: 'postgres-js' })
  const { column, value, row } = sql.options?.transform ?? {}
  if (column?.from !== undefined || value?.from !== undefined || row?.from !== undefined)
    throw new LockUsageError(
      'sql',
      'its option transform changes the rows that Holdfast reads as well: pass one without transform, or with `undefined` and column.to only',
    )
  mustReadAsUsual(sql.options)
}

/** What the rows that Holdfast reads are made of, by the number of the type: a sample, and whether it is read as usual. */
const samples: readonly (readonly [number, string, (value: unknown) => boolean])[] = [
  [16, 't', (value) => value === true],
  [20, '1', isNumber],
  [23, '1', isNumber],
  [25, 'a', (value) => value === 'a'],
  [1043, 'a', (value) => value === 'a'],
]

function isNumber(value: unknown): boolean {
  return ['number', 'bigint', 'string'].includes(typeof value) && Number(value) === 1
}

function mustReadAsUsual({ parsers }: PostgresJsOptions): void {
  for (const [type, sample, isUsual] of samples) {
    const parse = parsers?.[type]
    if (parse === undefined || isUsual(parse(sample))) continue
    throw new LockUsageError(
      'sql',
      `its option types changes the rows that Holdfast reads as well, of the type ${type}: pass one without that`,
    )
  }
}
