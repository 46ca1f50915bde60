import type { LockSeen, SessionSeen } from '../../../core/inspection.ts'
import { visible, visibleLines } from '../../../conformance/reporters/visible.ts'
import { duration } from '../../duration.ts'
import type { Ending } from '../look.ts'
import { button, element, keyedList, setClass, setText, show, type Row } from './dom.ts'
import type { Line } from './lines.ts'
import { cell, sectionOf, type Section } from './section.ts'

/** What a row needs to know of the page around it. */
export interface LockSurroundings {
  readonly ending: () => Ending
  /** Asks whether a session is to be ended. */
  readonly ask: (session: SessionSeen) => void
}

export function locksSection(surroundings: LockSurroundings): Section<Line> {
  return sectionOf<Line>({
    title: 'Locks',
    id: 'locks',
    columns: ['Session', 'Client', 'Since', 'Locks', 'Statement'],
    keyOf: ({ key }) => key,
    counts: ({ shown }) => shown === 'whole',
    create: (line) => lockRow(line, surroundings),
    nothing: 'Nobody holds a lock or waits for one.',
  })
}

const states: Readonly<Record<SessionSeen['state'], string>> = {
  waiting: 'waiting',
  active: 'active',
  'idle-in-transaction': 'idle in transaction',
  idle: 'idle',
}

function lockRow(first: Line, { ending, ask }: LockSurroundings): Row<Line> {
  let { session } = first
  const [id, badge, note] = [element('strong'), element('span'), element('div', { class: 'note' })]
  const [client, user] = [element('div'), element('div', { class: 'note' })]
  const [since, waiters] = [element('div'), element('div', { class: 'note' })]
  const statement = element('code', { class: 'statement' })
  const end = button('End…', () => ask(session), { class: 'end' })
  const locks = lockList()
  const node = element(
    'tr',
    {},
    cell('Session', element('div', { class: 'who' }, id, badge, end), note),
    cell('Client', client, user),
    cell('Since', since, waiters),
    cell('Locks', locks.node),
    cell('Statement', statement),
  )
  return {
    node,
    update: (line) => {
      ;({ session } = line)
      node.style.setProperty('--depth', String(Math.min(line.depth, 8)))
      setClass(node, `${line.depth > 0 ? 'below' : 'top'} ${session.state} ${line.shown}`)
      setText(id, visible(session.id))
      setText(badge, states[session.state])
      setClass(badge, `badge ${session.state}`)
      setText(note, noteOf(line))
      setText(client, visible(session.application ?? ''))
      setText(user, session.user === undefined ? '' : `as ${visible(session.user)}`)
      setText(since, sinceOf(session))
      setText(waiters, line.waiters === 0 ? '' : `${line.waiters.toLocaleString('en')} behind it`)
      const isWhole = line.shown === 'whole'
      locks.update(isWhole ? session : { ...session, holds: [] })
      setText(statement, isWhole ? visibleLines(session.statement ?? '') : '')
      show(end, isWhole && ending().ways.length > 0)
      end.setAttribute('aria-label', `End session ${session.id}…`)
    },
  }
}

function noteOf({ session, shown }: Line): string {
  if (shown === 'circle') return 'again: they wait for one another, a deadlock'
  if (shown === 'again') return 'waits for this one too: see elsewhere'
  const { waits } = session
  if (waits === undefined) return ''
  return waits.blockedBy.length === 0
    ? 'for whom is not shown'
    : `waits for ${visible(waits.blockedBy.join(', '))}`
}

function sinceOf({ waits, transactionMs }: SessionSeen): string {
  if (waits !== undefined) return waits.waitedMs === undefined ? '' : duration(waits.waitedMs)
  return transactionMs === undefined ? '' : duration(transactionMs)
}

/** Of a transaction that has locked a thousand things, the first few say enough until somebody asks. */
const [few, many] = [3, 500]

interface Wish {
  readonly lock: LockSeen
  readonly verb: 'wants' | 'holds'
}

function lockList(): Row<SessionSeen> {
  const list = element('ul', { class: 'locks' })
  const rest = element('div', { class: 'note' })
  let isOpen = false
  let session: SessionSeen | undefined
  const toggle = button('', () => {
    isOpen = !isOpen
    if (session !== undefined) update(session)
  })
  toggle.className = 'toggle'
  const draw = keyedList<Wish>(
    list,
    ({ lock, verb }) => `${verb} ${lock.kind} ${lock.mode} ${lock.on}`,
    wishRow,
  )
  const update = (now: SessionSeen): void => {
    session = now
    const all = wishesOf(now)
    const most = isOpen ? many : few
    draw(all.slice(0, most))
    show(toggle, all.length > few)
    setText(toggle, isOpen ? 'fewer' : `${(all.length - few).toLocaleString('en')} more`)
    toggle.setAttribute('aria-expanded', String(isOpen))
    const hidden = isOpen ? all.length - many : 0
    setText(rest, hidden > 0 ? `and ${hidden.toLocaleString('en')} more, not shown` : '')
  }
  return { node: element('div', {}, list, rest, toggle), update }
}

/** What it waits for comes first, then names: they are what people have chosen. */
function wishesOf({ holds, waits }: SessionSeen): readonly Wish[] {
  const held = holds.map((lock): Wish => ({ lock, verb: 'holds' }))
  const named = held.filter(({ lock }) => lock.kind === 'name')
  const others = held.filter(({ lock }) => lock.kind !== 'name')
  return [...(waits === undefined ? [] : [{ lock: waits.lock, verb: 'wants' } as const]), ...named, ...others]
}

function wishRow(): Row<Wish> {
  const [verb, on, mode] = [
    element('span'),
    element('span', { class: 'on' }),
    element('span', { class: 'mode' }),
  ]
  return {
    node: element('li', {}, verb, ' ', on, ' ', mode),
    update: ({ lock, verb: does }) => {
      setText(verb, does)
      setClass(verb, `verb ${does}`)
      setText(on, onOf(lock))
      setText(mode, visible(lock.mode))
    },
  }
}

/** What is locked, as people would say it. */
export function onOf({ kind, key, on }: LockSeen): string {
  return visible(key === undefined ? on : `${kind} ${key}`)
}
