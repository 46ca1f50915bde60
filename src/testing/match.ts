import type { Row, Value } from '../core/statement.ts'
import type { Condition, Find } from './command.ts'

export function meets(row: Row, condition: Condition, now: number): boolean {
  const value = row[condition.column] ?? null
  if ('is' in condition) return condition.is.some((wanted) => isSame(value, wanted))
  if ('set' in condition) return value !== null
  if ('over' in condition) return value === null || Number(value) <= now
  return 'below' in condition ? Number(value) < condition.below : Number(value) >= condition.atLeast
}

function isSame(value: unknown, wanted: Value): boolean {
  if (value instanceof Date && wanted instanceof Date) return value.getTime() === wanted.getTime()
  // a number is one, whatever type it has
  if (typeof value === 'bigint' || typeof wanted === 'bigint') return String(value) === String(wanted)
  return value === wanted
}

export function arranged<F extends { readonly row: Row }>(
  found: readonly F[],
  { order = [], limit }: Pick<Find, 'order' | 'limit'>,
): readonly F[] {
  const sorted = found.toSorted((a, b) => {
    for (const { column, direction } of order) {
      const difference = compare(a.row[column] ?? null, b.row[column] ?? null)
      if (difference !== 0) return direction === 'asc' ? difference : -difference
    }
    return 0
  })
  return sorted.slice(0, limit)
}

function compare(a: unknown, b: unknown): number {
  if (a === b) return 0
  if (a === null || b === null) return a === null ? -1 : 1
  return (a as number) < (b as number) ? -1 : 1
}
