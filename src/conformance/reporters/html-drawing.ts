import type { TraceEvent } from '../report.ts'
import { markup, type Markup } from './markup.ts'
import { actorsOf, endingOf, inOrder } from './timeline.ts'
import { shorten, visible } from './visible.ts'

const labelWidth = 84
const barHeight = 20
const laneGap = 10
const axisHeight = 22
/** The room that each point in time gets at least, so that what happens at almost the same time stays apart. */
const leastStep = 24
const timeRoom = 420

/** A step in its place. */
interface Bar {
  readonly event: TraceEvent
  readonly number: number
  readonly x: number
  readonly y: number
  readonly width: number
}

interface Lane {
  readonly actor: string
  readonly y: number
  readonly height: number
}

/** The steps of a law as a drawing: a lane for each actor, a bar for each step, time to the right. */
export function drawing(trace: readonly TraceEvent[]): Markup {
  const events = inOrder(trace)
  const scale = scaleOf(events)
  const { lanes, bars } = place(events, scale)
  const width = labelWidth + scale.width + leastStep
  const height = axisHeight + lanes.reduce((sum, lane) => sum + lane.height + laneGap, 0)
  return markup`<svg class="drawing" role="img" aria-label="Steps of the law over time" viewBox="0 0 ${round(width)} ${height}" width="${round(width)}" height="${height}">
${scale.ticks.map((tick) => markup`<text class="tick" x="${round(labelWidth + tick.x)}" y="12">${tick.label}</text>`)}
${lanes.map((lane) => laneMarkup(lane, width))}
${bars.map(barMarkup)}
</svg>`
}

interface Scale {
  readonly width: number
  readonly at: (ms: number) => number
  readonly ticks: readonly { readonly x: number; readonly label: string }[]
}

/** Long times are long, short ones are still seen: each point in time is at least a step behind the one before. */
function scaleOf(events: readonly TraceEvent[]): Scale {
  const times = events.flatMap(({ startMs, endMs }) => (endMs === undefined ? [startMs] : [startMs, endMs]))
  const points = [...new Set(times.map(round))].toSorted((one, other) => one - other)
  const [first = 0, last = 0] = [points[0], points.at(-1)]
  const perMs = last > first ? timeRoom / (last - first) : 0
  const places = new Map(points.map((ms, index) => [ms, index * leastStep + (ms - first) * perMs]))
  const width = (places.get(last) ?? 0) + leastStep
  let free = -Infinity
  const ticks = [...places].flatMap(([ms, x]) => {
    if (x < free) return []
    const label = `${ms} ms`
    free = x + label.length * 7 + 8
    return [{ x, label }]
  })
  return { width, at: (ms) => places.get(round(ms)) ?? width, ticks }
}

/** A lane grows when its actor does two things at once. */
function place(
  events: readonly TraceEvent[],
  scale: Scale,
): { readonly lanes: readonly Lane[]; readonly bars: readonly Bar[] } {
  const lanes: Lane[] = []
  const bars: Bar[] = []
  let y = axisHeight
  for (const actor of actorsOf(events)) {
    const ends: number[] = []
    for (const [index, event] of events.entries()) {
      if (event.actor !== actor) continue
      const x = scale.at(event.startMs)
      const end = event.endMs === undefined ? scale.width : scale.at(event.endMs)
      const free = ends.findIndex((taken) => taken <= x)
      const row = free === -1 ? ends.length : free
      const width = Math.max(leastStep - 6, end - x - 2)
      ends[row] = Math.max(end, x + leastStep - 6)
      bars.push({ event, number: index + 1, x: labelWidth + x, y: y + row * (barHeight + 2), width })
    }
    const height = ends.length * (barHeight + 2)
    lanes.push({ actor, y, height })
    y += height + laneGap
  }
  return { lanes, bars }
}

function laneMarkup({ actor, y, height }: Lane, width: number): Markup {
  return markup`<rect class="lane" x="0" y="${y - 3}" width="${round(width)}" height="${height + 4}" rx="4"/><text class="actor" x="8" y="${y + 14}">${shorten(visible(actor), 11)}<title>${visible(actor)}</title></text>
`
}

function barMarkup({ event, number, x, y, width }: Bar): Markup {
  const room = Math.floor((width - 8) / 6.6)
  const label = shorten(visible(`${number} ${event.does}`), Math.max(room, String(number).length))
  const shown = room < String(number).length + 4 ? String(number) : label
  return markup`<g class="bar ${event.outcome}"><title>${number}. ${visible(event.actor)}: ${describe(event)}</title><rect x="${round(x)}" y="${y}" width="${round(width)}" height="${barHeight}" rx="3"/><text x="${round(x + 4)}" y="${y + 14}">${shown}</text></g>
`
}

/** A step in words, with its time. */
function describe(event: TraceEvent): string {
  return `${visible(event.does)}${endingOf(event)} [${timeOf(event)}]`
}

export function timeOf({ startMs, endMs }: TraceEvent): string {
  return endMs === undefined ? `from ${round(startMs)} ms` : `${round(startMs)} to ${round(endMs)} ms`
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
