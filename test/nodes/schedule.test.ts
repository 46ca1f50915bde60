import { expect, test } from 'vitest'

import { LockUsageError } from '../../src/core/errors.ts'
import { nextDueOf, type Schedule } from '../../src/locks/nodes/schedule.ts'

/** The next times after one of them, in ISO's form. */
function dues(schedule: Schedule, after: string, count: number): readonly string[] {
  const next = nextDueOf(schedule)
  const all: string[] = []
  for (let ms = Date.parse(after); all.length < count; all.push(new Date(ms).toISOString().slice(0, 16)))
    ms = next(ms)
  return all
}

test('a time of day is that of UTC, unless a zone is named', () => {
  expect(dues({ at: '02:00' }, '2026-11-16T01:59:59.999Z', 2)).toEqual([
    '2026-11-16T02:00',
    '2026-11-17T02:00',
  ])
  expect(dues({ at: '02:00' }, '2026-11-16T02:00Z', 1)).toEqual(['2026-11-17T02:00'])
  expect(dues({ at: '02:00', timeZone: 'Asia/Kolkata' }, '2026-11-16T12:00Z', 1)).toEqual([
    '2026-11-16T20:30',
  ])
  expect(dues({ at: '23:30', timeZone: 'Pacific/Kiritimati' }, '2026-01-01T00:00Z', 1)).toEqual([
    '2026-01-01T09:30',
  ])
})

test('several times, in whatever order they are given', () => {
  const times = ['2026-11-16T06:00', '2026-11-16T18:00', '2026-11-17T06:00']
  expect(dues({ at: ['18:00', '06:00'] }, '2026-11-16T00:00Z', 3)).toEqual(times)
})

test('the day of the week is the one that the zone has', () => {
  const schedule: Schedule = { at: '00:30', timeZone: 'Europe/Berlin', days: ['mon', 'fri'] }
  // Friday has come in Berlin when it is Thursday by UTC
  expect(dues(schedule, '2026-11-16T12:00Z', 2)).toEqual(['2026-11-19T23:30', '2026-11-22T23:30'])
})

test('a time that the clocks leave out is late by as much as they go forward', () => {
  const schedule: Schedule = { at: '02:30', timeZone: 'Europe/Berlin' }
  expect(dues(schedule, '2026-03-28T00:00Z', 3)).toEqual([
    '2026-03-28T01:30',
    '2026-03-29T01:30',
    '2026-03-30T00:30',
  ])
})

test('of a time that the clocks show twice, the first is meant, and once a day is enough', () => {
  const schedule: Schedule = { at: '02:30', timeZone: 'Europe/Berlin' }
  expect(dues(schedule, '2026-10-24T12:00Z', 2)).toEqual(['2026-10-25T00:30', '2026-10-26T01:30'])
  expect(dues(schedule, '2026-10-25T00:45Z', 1)).toEqual(['2026-10-26T01:30'])
})

test('a job is due on each day of three years, in zones that change their clocks in odd ways', () => {
  for (const timeZone of [
    'America/New_York',
    'Australia/Lord_Howe',
    'Africa/Casablanca',
    'America/Santiago',
    'Asia/Tehran',
  ])
    for (const at of ['00:00', '00:30', '02:15', '23:59']) {
      const day = new Intl.DateTimeFormat('sv-SE', { timeZone })
      const next = nextDueOf({ at, timeZone })
      let seen = 0
      let last = ''
      for (let ms = next(Date.UTC(2020, 0, 1)); ms < Date.UTC(2023, 0, 1); ms = next(ms)) {
        const now = day.format(ms)
        expect(now > last, `${timeZone} ${at}: ${last}, ${now}`).toBe(true)
        last = now
        seen += 1
      }
      expect([1095, 1096, 1097]).toContain(seen)
    }
})

test.each([
  [{ at: '24:00' }, 'at'],
  [{ at: '2:00' }, 'at'],
  [{ at: [] }, 'at'],
  [{ at: 2 }, 'at'],
  [{ at: '02:00', timeZone: 'Mars/Base' }, 'timeZone'],
  [{ at: '02:00', days: [] }, 'days'],
  [{ at: '02:00', days: ['monday'] }, 'days'],
])('%j is refused', (schedule, field) => {
  let error: unknown
  try {
    nextDueOf(schedule as unknown as Schedule)
  } catch (thrown) {
    error = thrown
  }
  expect(error).toBeInstanceOf(LockUsageError)
  expect(error).toMatchObject({ field })
})
