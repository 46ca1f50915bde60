import type { TraceEvent } from '../report.ts'
import { padTo, shorten, visible, wrap } from './visible.ts'

/** A line of the drawing: at a time, one actor begins or ends something. */
interface Mark {
  readonly atMs: number
  readonly event: TraceEvent
  readonly text: string
  readonly kind: 'start' | 'end' | 'whole'
}

const timeWidth = 7

/** What the times of a trace are, and how they are shown. */
export interface Clock {
  readonly unit: string
  readonly show: (atMs: number) => string
  /** How long a step has waited, in brackets. */
  readonly waited: (event: TraceEvent) => string
}

const inMs: Clock = {
  unit: 'ms',
  show: (atMs) => (atMs === Infinity ? 'end' : String(Math.round(atMs))),
  waited: ({ startMs, endMs = startMs }) => `waited ${Math.round(endMs - startMs)} ms`,
}

/**
 * What the sessions of a law did, as text: time runs downwards, and each actor has a column.
 *
 * A step during which others did something has a line from its start to its end: dotted while it waits.
 */
export function timelineOf(
  trace: readonly TraceEvent[],
  width: number,
  clock: Clock = inMs,
): readonly string[] {
  const actors = actorsOf(trace)
  if (actors.length === 0) return []
  const cellWidth = Math.min(48, Math.max(16, Math.floor((width - timeWidth) / actors.length) - 2))
  const open = new Set<TraceEvent>()
  const lines = marksOf(trace, clock).flatMap((mark) => {
    if (mark.kind === 'end') open.delete(mark.event)
    const cells = actors.map((actor) =>
      actor === mark.event.actor ? wrap(mark.text, cellWidth) : [lineOf(actor, open)],
    )
    if (mark.kind === 'start') open.add(mark.event)
    return rowsOf(
      clock.show(mark.atMs),
      actors.map((actor, index) => ({ lines: cells[index] ?? [], rest: lineOf(actor, open) })),
      cellWidth,
    )
  })
  return [
    row(
      clock.unit,
      actors.map((actor) => shorten(visible(actor), cellWidth)),
      cellWidth,
    ),
    ...lines,
  ]
}

/** In the order in which they first do something. */
export function actorsOf(trace: readonly TraceEvent[]): readonly string[] {
  return [...new Set(trace.map(({ actor }) => actor))]
}

export function inOrder(trace: readonly TraceEvent[]): readonly TraceEvent[] {
  return trace.toSorted((one, other) => one.startMs - other.startMs)
}

function marksOf(trace: readonly TraceEvent[], clock: Clock): readonly Mark[] {
  const events = inOrder(trace)
  const marks = events.flatMap((event, index): readonly Mark[] => {
    const { startMs, endMs = Infinity } = event
    const does = visible(event.does)
    const isSeenThrough = events.slice(index + 1).some((later) => later.startMs < endMs)
    if (!isSeenThrough)
      return [{ atMs: startMs, event, text: `${does}${endingOf(event, clock)}`, kind: 'whole' }]
    const begins = event.outcome === 'waits' ? `${does} … waits` : `${does} …`
    return [
      { atMs: startMs, event, text: begins, kind: 'start' },
      { atMs: endMs, event, text: `└ ${does}${endingOf(event, clock)}`, kind: 'end' },
    ]
  })
  return marks.toSorted((one, other) => compare(one.atMs, other.atMs) || endsFirst(one) - endsFirst(other))
}

/** Two endless steps are at the same time; their difference is no number. */
function compare(one: number, other: number): number {
  return one === other ? 0 : one - other
}

function endsFirst({ kind }: Mark): number {
  return kind === 'end' ? 0 : 1
}

/** What became of a step, as it stands behind what it does. */
export function endingOf(event: TraceEvent, clock: Clock = inMs): string {
  const { outcome, detail, endMs } = event
  const saw = detail === undefined ? '' : visible(detail)
  const arrow = saw === '' ? '' : ` → ${saw}`
  switch (outcome) {
    case 'done':
      return arrow
    case 'waits':
      return endMs === undefined ? ` (waits to the end)${arrow}` : ` (${clock.waited(event)})${arrow}`
    case 'failed':
      return ` ✗ ${saw === '' ? 'failed' : saw}`
    case 'unfinished':
      return ` (never ended)${arrow}`
  }
}

function lineOf(actor: string, open: ReadonlySet<TraceEvent>): string {
  const events = [...open].filter((event) => event.actor === actor)
  if (events.length === 0) return ''
  return events.some(({ outcome }) => outcome === 'waits') ? '┊' : '│'
}

interface TimelineCell {
  readonly lines: readonly string[]
  /** What stands in the further lines of a row that is higher than this cell. */
  readonly rest: string
}

function rowsOf(time: string, cells: readonly TimelineCell[], cellWidth: number): readonly string[] {
  const height = Math.max(...cells.map(({ lines }) => lines.length))
  return Array.from({ length: height }, (_, index) =>
    row(
      index === 0 ? time : '',
      cells.map(({ lines, rest }) => lines[index] ?? rest),
      cellWidth,
    ),
  )
}

function row(time: string, cells: readonly string[], cellWidth: number): string {
  return [time.padStart(timeWidth), ...cells.map((cell) => padTo(cell, cellWidth))].join('  ').trimEnd()
}
