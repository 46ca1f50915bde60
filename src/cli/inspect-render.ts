import type { Inspection, LockSeen, SessionSeen } from '../core/inspection.ts'
import { leaseLines } from './inspect-leases.ts'
import { shorten, visible } from '../conformance/reporters/visible.ts'
import { duration } from './duration.ts'
import { firstLine, type Layout, type Paint } from './inspect-text.ts'
import { treeOf, type Branch } from './inspect-tree.ts'

/** What was seen, for people: a tree of who waits for whom, the leases, and what could not be seen. */
export function renderInspection(inspection: Inspection, layout: Layout): string {
  const { dialect, version, sessions, leases, unseen } = inspection
  const head = layout.paint('name', visible(`${dialect} ${version}`))
  const blocks = [
    [`${head}  ${summaryOf(inspection)}`],
    ...treeOf(sessions).map((branch) => branchLines(branch, layout, top)),
    leases.length === 0 ? [] : leaseLines(leases, layout),
    unseen.length === 0 ? [] : ['Not seen:', ...unseen.map((text) => `  - ${visible(text)}`)],
  ]
  const full = blocks.filter((lines) => lines.length > 0)
  return `${full.map((lines) => lines.join('\n')).join('\n\n')}\n`
}

function summaryOf({ sessions, leases }: Inspection): string {
  const waiting = sessions.filter(({ waits }) => waits !== undefined).length
  const holding = sessions.filter(({ holds }) => holds.length > 0).length
  if (sessions.length === 0 && leases.length === 0) return 'nobody holds a lock or waits for one'
  return [
    `${counted(holding, 'holder')}, ${waiting} waiting`,
    ...(leases.length === 0 ? [] : [counted(leases.length, 'lease')]),
  ].join(', ')
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}

/** What stands before the lines of a branch: its first one, the others of its own, and those of the branches below. */
interface Margin {
  readonly first: string
  readonly rest: string
}

const top: Margin = { first: '', rest: '' }

function branchLines(branch: Branch, layout: Layout, margin: Margin): readonly string[] {
  const { shown, waiters } = branch
  const stem = waiters.length > 0 ? '│ ' : '  '
  const lines = [
    `${margin.first}${titleOf(branch, layout.paint)}`,
    ...(shown === 'whole' ? detailsOf(branch, layout, `${margin.rest}${stem}`) : []),
  ]
  const below = waiters.flatMap((waiter, index) => {
    const isLast = index === waiters.length - 1
    return branchLines(waiter, layout, {
      first: `${margin.rest}${isLast ? '└─' : '├─'} `,
      rest: `${margin.rest}${isLast ? '   ' : '│  '}`,
    })
  })
  return [...lines, ...below]
}

const states: Readonly<Record<SessionSeen['state'], string>> = {
  waiting: 'waiting',
  active: 'active',
  'idle-in-transaction': 'idle in transaction',
  idle: 'idle',
}

function titleOf({ session, shown }: Branch, paint: Paint): string {
  const { id, application, user, state, transactionMs, waits } = session
  const name = paint('name', visible(id))
  if (shown === 'again') return `${name}  ${paint('quiet', 'waits for this one too: see elsewhere')}`
  if (shown === 'circle') return `${name}  ${paint('danger', 'again: they wait for one another, a deadlock')}`
  const since = waits === undefined ? transactionMs : (waits.waitedMs ?? transactionMs)
  const doing = since === undefined ? states[state] : `${states[state]} for ${duration(since)}`
  const who = [application, user === undefined ? '' : `as ${user}`].filter((text = '') => text !== '')
  return [
    name,
    ...who.map((text) => visible(String(text))),
    waits === undefined ? doing : paint('waiting', doing),
  ].join('  ')
}

/** Of a transaction that has locked a thousand things, the first few say enough. */
const mostHolds = 6

function detailsOf(
  { session: { holds, waits, statement }, strangers }: Branch,
  { columns, paint }: Layout,
  margin: string,
): readonly string[] {
  const line = (label: string, text: string): string =>
    `${margin} ${paint('quiet', label.padEnd(5))} ${shorten(text, Math.max(20, columns - margin.length - 7))}`
  // names first: they are what people have chosen
  const sorted = [...holds].toSorted((a, b) => Number(b.kind === 'name') - Number(a.kind === 'name'))
  const hidden = sorted.length - mostHolds
  return [
    ...(waits === undefined ? [] : [line('wants', describe(waits.lock))]),
    ...(strangers.length === 0 ? [] : [line('from', `${visible(strangers.join(', '))}, not shown here`)]),
    ...sorted.slice(0, mostHolds).map((lock) => line('holds', describe(lock))),
    ...(hidden > 0 ? [line('', `and ${hidden} more`)] : []),
    ...(statement === undefined ? [] : [line('runs', firstLine(statement, columns))]),
  ]
}

function describe({ kind, key, on, mode }: LockSeen): string {
  return visible(`${key === undefined ? on : `${kind} ${key}`} (${mode})`)
}
