import type { LeaseSeen } from '../core/inspection.ts'
import { shorten, visible } from '../conformance/reporters/visible.ts'
import { duration } from './duration.ts'
import { type Layout } from './inspect-text.ts'

/** Leases in columns that line up. */
export function leaseLines(leases: readonly LeaseSeen[], { paint, columns }: Layout): readonly string[] {
  const rows = leases.map(({ key, owner, remainingMs, fence }) => [
    visible(key),
    owner === undefined ? '-' : visible(owner),
    remainingMs > 0 ? `in ${duration(remainingMs)}` : `${duration(-remainingMs)} ago`,
    String(fence),
  ])
  const head = ['lease', 'owner', 'ends', 'fence']
  const widths = head.map((_, column) =>
    Math.max(...[head, ...rows].map((row) => Array.from(row[column] ?? '').length)),
  )
  const line = (row: readonly string[]): string =>
    shorten(
      row
        .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - Array.from(cell).length))
        .join('  ')
        .trimEnd(),
      columns - 2,
    )
  return [paint('quiet', line(head)), ...rows.map(line)].map((text) => `  ${text}`)
}
