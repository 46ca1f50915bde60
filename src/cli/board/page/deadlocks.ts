import type { DeadlockedSession } from '../../../core/deadlock.ts'
import { visible, visibleLines } from '../../../conformance/reporters/visible.ts'
import type { DeadlockNote, DeadlocksSeen } from '../look.ts'
import { element, keyedList, setText, show } from './dom.ts'
import { onOf } from './locks.ts'

export interface DeadlocksView {
  readonly node: HTMLElement
  readonly draw: (seen: DeadlocksSeen) => void
}

export function deadlocksView(): DeadlocksView {
  const [count, list] = [element('span', { class: 'count' }), element('ol', { class: 'deadlocks' })]
  const none = element('p', { class: 'none' }, 'None was seen.')
  const [unseen, why] = [element('ul', { class: 'unseen' }), element('details')]
  why.append(element('summary', {}, 'What the server does not tell of them'), unseen)
  const draw = keyedList<DeadlockNote>(list, keyOf, (note) => ({ node: noteNode(note), update: () => {} }))
  const drawWhy = keyedList<string>(
    unseen,
    (text) => text,
    (text) => ({ node: element('li', {}, visible(text)), update: () => {} }),
  )
  return {
    node: element('section', { id: 'deadlocks' }, element('h2', {}, 'Deadlocks', count), list, none, why),
    draw: (seen) => {
      const { latest, counted } = seen
      setText(count, counted === undefined ? String(latest.length) : `${counted} counted by the server`)
      show(none, latest.length === 0)
      show(why, seen.unseen.length > 0)
      draw(latest)
      drawWhy(seen.unseen)
    },
  }
}

function keyOf({ from, at = '', sessions }: DeadlockNote): string {
  return [from, at, ...sessions.map(({ id }) => id)].join(' ')
}

const origins: Readonly<Record<DeadlockNote['from'], string>> = {
  server: 'as the server remembers it',
  seen: 'sessions seen waiting in a circle',
  counted: 'counted by the server, which tells no more of it: its log does',
}

/** A deadlock does not change any more, so that it is drawn once. */
function noteNode({ from, at, sessions, count }: DeadlockNote): HTMLElement {
  const when = at === undefined ? 'at a time that is not told' : from === 'server' ? at : localTime(at)
  const title = count === undefined ? 'Deadlock' : count === 1 ? 'One deadlock' : `${count} deadlocks`
  return element(
    'li',
    {},
    element('div', {}, element('strong', {}, `${title}, ${visible(when)}`), ` ${origins[from]}`),
    ...sessions.map(sessionNode),
  )
}

function localTime(iso: string): string {
  const date = new Date(iso)
  return Number.isNaN(date.getTime()) ? iso : date.toLocaleTimeString()
}

function sessionNode(session: DeadlockedSession): HTMLElement {
  const { id, isVictim, application, user, waits, holds, statement } = session
  const who = [application, user === undefined ? undefined : `as ${user}`].flatMap((text) => text ?? [])
  const fate = isVictim ? [element('span', { class: 'badge victim' }, 'victim: rolled back')] : []
  const facts = [
    ...(waits === undefined ? [] : [`wants ${onOf(waits.lock)} (${visible(waits.lock.mode)})`]),
    ...holds.slice(0, 5).map((lock) => `holds ${onOf(lock)} (${visible(lock.mode)})`),
    ...(holds.length > 5 ? [`and ${holds.length - 5} more`] : []),
  ]
  return element(
    'div',
    { class: 'party' },
    element('div', {}, element('strong', {}, visible(id)), ` ${visible(who.join(' '))} `, ...fate),
    ...facts.map((fact) => element('div', { class: 'note' }, fact)),
    ...(statement === undefined ? [] : [element('code', { class: 'statement' }, visibleLines(statement))]),
  )
}
