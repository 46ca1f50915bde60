import { shorten, visible } from '../conformance/reporters/visible.ts'
import type { Deadlock, DeadlockedSession } from '../core/deadlock.ts'
import type { LockSeen } from '../core/inspection.ts'
import type { LatestDeadlocks } from '../locks/deadlocks/latest.ts'
import { firstLine, type Layout } from './inspect-text.ts'

/** What the server remembers, for people: each deadlock with those who waited for one another. */
export function renderDeadlocks(latest: LatestDeadlocks, layout: Layout): string {
  const { dialect, version, deadlocks, unseen } = latest
  const head = layout.paint('name', visible(`${dialect} ${version}`))
  const count = deadlocks.length === 0 ? 'no deadlock is remembered' : `the latest of ${deadlocks.length}`
  const blocks = [
    [`${head}  ${deadlocks.length === 1 ? 'the latest deadlock' : count}`],
    ...deadlocks.map((deadlock) => deadlockLines(deadlock, layout)),
    unseen.length === 0 ? [] : ['Not seen:', ...unseen.map((text) => `  - ${visible(text)}`)],
  ]
  const full = blocks.filter((lines) => lines.length > 0)
  return `${full.map((lines) => lines.join('\n')).join('\n\n')}\n`
}

function deadlockLines({ at, sessions }: Deadlock, layout: Layout): readonly string[] {
  const title = at === undefined ? 'deadlock' : `deadlock at ${at}`
  return [visible(title), ...sessions.flatMap((session) => sessionLines(session, layout))]
}

function sessionLines(session: DeadlockedSession, { columns, paint }: Layout): readonly string[] {
  const { id, isVictim, user, application, waits, holds, statement } = session
  const line = (label: string, text: string): string =>
    `     ${paint('quiet', label.padEnd(5))} ${shorten(text, Math.max(20, columns - 11))}`
  const who = [application, user === undefined ? undefined : `as ${user}`].flatMap((text) => text ?? [])
  const fate = isVictim ? [paint('danger', 'the victim: rolled back')] : []
  return [
    `  ${[paint('name', visible(id)), ...who.map(visible), ...fate].join('  ')}`,
    ...(waits === undefined ? [] : [line('wants', describe(waits.lock))]),
    ...(waits === undefined || waits.blockedBy.length === 0
      ? []
      : [line('from', visible(waits.blockedBy.join(', ')))]),
    ...holds.map((lock) => line('holds', describe(lock))),
    ...(statement === undefined ? [] : [line('runs', firstLine(statement, columns))]),
  ]
}

function describe({ kind, key, on, mode }: LockSeen): string {
  return visible(`${key === undefined ? on : `${kind} ${key}`} (${mode})`)
}
