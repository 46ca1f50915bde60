import { LockUsageError } from '../../core/errors.ts'

/** A day of the week. */
export type Weekday = 'mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat' | 'sun'

/** Times of day at which a job is due. */
export interface Schedule {
  /** A time of day, as `'02:00'` or `'02:00:30'`, or several. */
  readonly at: string | readonly string[]
  /** Whose time of day, as `'Europe/Berlin'`. The nodes' own settings are not looked at. @default 'UTC' */
  readonly timeZone?: string
  /** On these days of the week only. @default every day */
  readonly days?: readonly Weekday[]
}

/** Gives the first time after another one at which a job is due, both in milliseconds since 1970. */
export type NextDue = (afterMs: number) => number

const weekdays: readonly string[] = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const dayMs = 86_400_000

/**
 * A time that the clocks leave out, as they go forward, is late by as much as they do; of a time that they show twice,
 * as they go back, the first is meant. So a job is due once on every day that it is due.
 */
export function nextDueOf({ at, timeZone = 'UTC', days }: Schedule): NextDue {
  const times = [at].flat().map(timeOfDay)
  if (times.length === 0) throw new LockUsageError('at', 'names no time')
  const isDay = dayTest(days)
  const clock = clockIn(timeZone)
  return (afterMs) => {
    const today = Math.floor((afterMs + clock(afterMs)) / dayMs) * dayMs
    // a week has every day, and the clocks may have moved a time of today behind now
    for (let day = today - dayMs; day <= today + 8 * dayMs; day += dayMs) {
      if (!isDay(day)) continue
      const due = times.map((time) => instantOf(day + time, clock)).filter((ms) => ms > afterMs)
      if (due.length > 0) return Math.min(...due)
    }
    throw new LockUsageError('days', 'names no day')
  }
}

/** The part of a day that has gone by at a time, in milliseconds. */
function timeOfDay(text: unknown): number {
  const match = typeof text === 'string' ? /^([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?$/.exec(text) : null
  if (match === null)
    throw new LockUsageError('at', `${JSON.stringify(text)} is not a time of day, as '02:00' or '02:00:30'`)
  const [, hours, minutes, seconds = 0] = match
  return ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000
}

function dayTest(days: readonly Weekday[] | undefined): (day: number) => boolean {
  if (days === undefined) return () => true
  const named: readonly unknown[] = Array.isArray(days) ? days : []
  if (named.length === 0 || !named.every((day) => weekdays.some((known) => known === day)))
    throw new LockUsageError('days', `must be a list of ${weekdays.join(', ')}`)
  return (day) => days.some((name) => name === weekdays[new Date(day).getUTCDay()])
}

/** What a zone's clocks show more than UTC at an instant, in milliseconds. */
type Clock = (instantMs: number) => number

function clockIn(timeZone: string): Clock {
  const format = formatIn(timeZone)
  return (instantMs) => {
    const parts = Object.fromEntries(format.formatToParts(instantMs).map(({ type, value }) => [type, value]))
    const { year, month, day, hour, minute, second } = parts
    const shown = Date.UTC(
      Number(year),
      Number(month) - 1,
      Number(day),
      Number(hour),
      Number(minute),
      Number(second),
    )
    return shown - Math.floor(instantMs / 1000) * 1000
  }
}

function formatIn(timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'gregory',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  } catch (error) {
    throw new LockUsageError(
      'timeZone',
      `${JSON.stringify(timeZone)} is not a time zone, as 'Europe/Berlin'`,
      {
        cause: error,
      },
    )
  }
}

/** The instant at which the clocks show a time, given as if it were one of UTC. */
function instantOf(shownMs: number, clock: Clock): number {
  // no zone changes its clocks twice within two days
  const [before, after] = [clock(shownMs - dayMs), clock(shownMs + dayMs)]
  const found = [shownMs - before, shownMs - after].filter((instant) => instant + clock(instant) === shownMs)
  return found.length > 0 ? Math.min(...found) : shownMs - before
}
