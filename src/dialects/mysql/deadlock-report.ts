import type { DeadlockedSession } from '../../core/deadlock.ts'
import type { LockSeen } from '../../core/inspection.ts'
import type { Row } from '../../core/statement.ts'
import { deadlockedSession } from '../deadlock-session.ts'
import { textOf } from '../inspect-session.ts'
import { namedLock } from './inspect-report.ts'

/** The latest deadlock of the status report of InnoDB. */
export interface ReportedDeadlock {
  /** As the server's own clock and zone have it. */
  readonly at: string
  /** How long before the report it was; the report tells whole seconds. */
  readonly agoMs: number
  readonly sessions: readonly DeadlockedSession[]
  /** Whether the victim that it names is known to be the right one. */
  readonly isVictimSure: boolean
}

const time = String.raw`(\d{4}-\d\d-\d\d +\d{1,2}:\d\d:\d\d)`
const reportTime = new RegExp(`^${time}.* INNODB MONITOR OUTPUT`, 'm')
const headline = new RegExp(`^LATEST DETECTED DEADLOCK\\n-+\\n${time}`, 'm')
const victimLine = /^\*\*\* WE ROLL BACK TRANSACTION \((\d+)\)/gm

/**
 * Undefined where there was none since the server started. Never throws: statements in it may be any text.
 *
 * `version` is the server's own words: MariaDB names the wrong victim from 10.6 on, the one before or none (MDEV-29187,
 * MDEV-37977). 10.11.19 is seen to name the right one, 10.11.18 not; where it is not known, nobody is called the victim.
 */
export function reportedDeadlock(
  rows: readonly Row[] | undefined,
  version: unknown,
): ReportedDeadlock | undefined {
  const status = textOf(rows?.[0]?.Status) ?? ''
  const head = headline.exec(status)
  const at = head?.[1]
  if (head === null || at === undefined) return undefined
  const rest = status.slice(head.index + head[0].length)
  const end = rest.search(/^-+\nTRANSACTIONS\n-+\n/m)
  const text = end < 0 ? rest : rest.slice(0, end)
  const agoMs = moment(reportTime.exec(status)?.[1]) - moment(at)
  const isVictimSure = !/^MariaDB thread id /m.test(text) || namesTheVictim(textOf(version) ?? '')
  const sessions = sessionsIn(text).map((one) => Object.assign(one, isVictimSure ? {} : { isVictim: false }))
  return { at, agoMs: Number.isNaN(agoMs) ? 0 : agoMs, sessions, isVictimSure }
}

function namesTheVictim(version: string): boolean {
  const [, major, minor, patch] = /^(?:5\.5\.5-)?(\d+)\.(\d+)\.(\d+)/.exec(version)?.map(Number) ?? []
  if (major !== 10 || minor === undefined || patch === undefined) return false
  return minor < 6 || (minor === 11 && patch >= 19)
}

/** Both times are of one clock, so that its zone does not matter. */
function moment(text: string | undefined): number {
  return Date.parse(`${(text ?? '').replace(/ +/, 'T').replace(/T(\d):/, 'T0$1:')}Z`)
}

interface Paragraph {
  readonly number: string
  readonly trx: string
  readonly thread: string
  readonly user: string | undefined
  readonly statement: string
}

function sessionsIn(text: string): readonly DeadlockedSession[] {
  const [, ...parts] = text.split(/^\*\*\* (?=\(\d+\) TRANSACTION:\n)/m)
  const paragraphs = parts.flatMap(paragraphIn)
  const locks = parts.flatMap(locksIn)
  const victim = [...text.matchAll(victimLine)].at(-1)?.[1]
  return paragraphs.map(({ number, trx, thread, user, statement }, place) => {
    const own = locks.filter((lock) => lock.trx === trx)
    const wanted = own.find(({ isWaiting }) => isWaiting)?.lock
    // the server writes them in the order in which each waits for the next
    const next = paragraphs[(place + 1) % paragraphs.length]?.thread
    return deadlockedSession(
      { id: thread, isVictim: number === victim, holds: distinct(own.filter((one) => !one.isWaiting)) },
      { user, statement, waits: wanted && { lock: wanted, blockedBy: next === undefined ? [] : [next] } },
    )
  })
}

const beginning =
  /^\((\d+)\) TRANSACTION:\nTRANSACTION (\d+),[^]*?^(?:MySQL|MariaDB) thread id (\d+),(.*)\n([^]*)/m
const section = /^\*\*\* (?:\(\d+\) )?(?:HOLDS THE LOCK|WAITING FOR THIS LOCK|CONFLICTING WITH|WE ROLL BACK)/m

function paragraphIn(part: string): readonly Paragraph[] {
  const [, number, trx, thread, who = '', rest = ''] = beginning.exec(part) ?? []
  if (number === undefined || trx === undefined || thread === undefined) return []
  const end = rest.search(section)
  return [{ number, trx, thread, user: userIn(who), statement: end < 0 ? rest : rest.slice(0, end) }]
}

/** Behind the query's number stand the host, its address, the user, and what the server was doing. */
function userIn(who: string): string | undefined {
  const words = (/ query id \d+ (.*)/.exec(who)?.[1] ?? '').split(' ')
  const address = words.findIndex((word) => /^[\d.]+$|:/.test(word))
  return address >= 0 ? words[address + 1] : words[0] === 'localhost' ? words[1] : undefined
}

interface ReportedLock {
  readonly trx: string
  readonly isWaiting: boolean
  readonly lock: LockSeen
}

/** Every line of a lock says itself whose it is, whichever headline it stands below. */
const lockLine =
  /^(?:RECORD LOCKS|TABLE LOCK).*?(?:index (.+?) of )?table (`.+`) trx id (\d+) lock[_ ]mode (.+?)( waiting)?$/gm

function locksIn(part: string): readonly ReportedLock[] {
  const start = part.search(section)
  if (start < 0) return []
  return [...part.slice(start).matchAll(lockLine)].flatMap(([, index, table, trx, mode, waiting]) => {
    if (table === undefined || trx === undefined || mode === undefined) return []
    return [{ trx, isWaiting: waiting !== undefined, lock: namedLock({ table, index, mode }).lock }]
  })
}

function distinct(locks: readonly ReportedLock[]): readonly LockSeen[] {
  return [...new Map(locks.map(({ lock }) => [JSON.stringify(lock), lock])).values()]
}
