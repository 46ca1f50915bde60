import { timelineOf, type Clock } from '../conformance/reporters/timeline.ts'
import { visible, visibleLines, wrap } from '../conformance/reporters/visible.ts'
import type { RaceEvent, RaceReport, ScheduleResult } from './report.ts'

/** Steps instead of milliseconds: the same schedule is drawn the same way every time. */
const inSteps: Clock = {
  unit: 'step',
  show: (at) => (Number.isInteger(at) ? String(at) : ''),
  waited: () => 'waited',
}

/** A report for people at a screen: what was found, the first failing schedule as a timeline, how much was searched. */
export function describeRace(report: RaceReport, columns: number = 100): string {
  const { failure, notes } = report
  const lines = [
    headline(report),
    ...notes.flatMap((note) => indented(note, columns)),
    ...(failure === undefined ? [] : ['', ...describeSchedule(failure, columns), '']),
    searched(report),
  ]
  return lines.join('\n').trimEnd()
}

/** One schedule as a timeline: each actor has a column, and a line of dots while it waits. */
function describeSchedule(result: ScheduleResult, columns: number): readonly string[] {
  const { name, reason, results, trace } = result
  return [
    `schedule ${name}`,
    ...timelineOf(trace.map(asSteps), columns, inSteps),
    ...Object.entries(results).flatMap(([actor, words]) => indented(`${actor} ${words}`, columns)),
    ...(reason === undefined ? [] : indented(`${causes[result.outcome]}: ${reason}`, columns)),
  ]
}

const causes: Readonly<Record<ScheduleResult['outcome'], string>> = {
  holds: 'the invariant holds',
  broken: '✗ the invariant broke',
  conflict: '✗ a conflict reached the caller',
  hang: '✗ the schedule hangs',
  'left-open': '✗ something was left behind',
}

/** In order, though they began in the same millisecond. What has waited ends between two steps. */
function asSteps({ step, untilStep, ...event }: RaceEvent): RaceEvent {
  const { endMs: _, ...rest } = event
  const end = untilStep === undefined ? {} : { endMs: untilStep + 0.5 }
  return { ...rest, does: event.does.replaceAll(/\s+/g, ' ').trim(), ...end, startMs: step, step }
}

function headline({ verdict, failure, actors, completeSwitches }: RaceReport): string {
  switch (verdict) {
    case 'none':
      return `No race found between ${actors.join(', ')}.`
    case 'race':
      // not even the orders without a switch were run
      if (completeSwitches < 0) return `Wrong in the order ${failure?.name}.`
      return `Race found: ${actors.join(', ')} are right one after the other, and wrong in the order ${failure?.name}.`
    case 'not-a-race':
      return `Wrong in the order ${failure?.name}, in which nobody is interrupted.`
    case 'hang':
      return `Hangs in the order ${failure?.name}.`
    case 'unseen':
      return 'Nothing can be said: not every actor was seen.'
    case 'failing':
      return 'Nothing can be said: not every actor has succeeded at least once.'
    case 'interrupted':
      return 'Interrupted before the end.'
  }
}

function searched(report: RaceReport): string {
  const { schedules, known, isComplete, completeSwitches, seed, driver } = report
  const many = schedules === 1 ? '1 schedule' : `${schedules} schedules`
  const which = isComplete ? `all ${many}` : `${many} of at least ${known}`
  const far =
    isComplete || completeSwitches < 0
      ? ''
      : `, complete up to ${completeSwitches === 1 ? '1 switch' : `${completeSwitches} switches`}`
  return `Ran ${which}${far}, through ${driver}, seed ${seed}.`
}

function indented(text: string, columns: number): readonly string[] {
  return wrap(visible(visibleLines(text)), columns - 2).map((line) => `  ${line}`)
}
