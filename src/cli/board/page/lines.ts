import type { SessionSeen } from '../../../core/inspection.ts'
import { treeOf, type Branch } from '../../inspect-tree.ts'
import { pruned, type Wanted } from './filter.ts'

/** A line of the tree: a session, and how far below the one it waits for. */
export interface Line {
  readonly key: string
  readonly session: SessionSeen
  readonly depth: number
  readonly shown: Branch['shown']
  /** Those who wait for it, directly or not. */
  readonly waiters: number
}

/** The sessions as lines, those first for whom most others wait. */
export function linesOf(sessions: readonly SessionSeen[], wanted: Wanted): readonly Line[] {
  const trees = pruned(treeOf(sessions), wanted).map((branch) => ({
    lines: linesIn(branch, 0, ''),
    longestMs: branch.session.waits?.waitedMs ?? branch.session.transactionMs ?? 0,
  }))
  return trees
    .toSorted((a, b) => b.lines.length - a.lines.length || b.longestMs - a.longestMs)
    .flatMap(({ lines }) => lines)
}

/** Each session once, however many it waits for. */
export function wholeOf(lines: readonly Line[]): readonly Line[] {
  return lines.filter(({ shown }) => shown === 'whole')
}

/** The same session can stand below several that it waits for, so its place is a part of its key. */
function linesIn({ session, shown, waiters }: Branch, depth: number, above: string): readonly Line[] {
  const key = shown === 'whole' ? session.id : `${above} ${session.id}`
  const below = waiters.flatMap((waiter) => linesIn(waiter, depth + 1, session.id))
  return [{ key, session, depth, shown, waiters: wholeOf(below).length }, ...below]
}
