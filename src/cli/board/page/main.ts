import { visible } from '../../../conformance/reporters/visible.ts'
import { duration } from '../../duration.ts'
import type { Ending, Greeting, Look, News, Point } from '../look.ts'
import { element, keyedList, setText, show } from './dom.ts'
import { deadlocksView } from './deadlocks.ts'
import { isWantedLease, type Wanted } from './filter.ts'
import { graphOf } from './graph.ts'
import { joined } from './points.ts'
import { linesOf } from './lines.ts'
import { locksSection } from './locks.ts'
import { endQuestion } from './question.ts'
import { statusView } from './status.ts'
import type { Condition } from './words.ts'
import { leasesSection, queuesSection } from './tables.ts'
import { controlsOf, listenToKeys } from './controls.ts'

/*
 * The page: it is told of each look at the database, and draws it.
 */

let look: Look | undefined
let points: readonly Point[] = []
let ending: Ending = { isAllowed: false, ways: [] }
let wanted: Wanted = { search: '', key: '' }
let condition: Condition = { isPaused: false, hasBoard: true, lookedAt: undefined, failure: undefined }
let stream: EventSource | undefined

const status = statusView()
const title = element('span', { class: 'title' })
const server = element('span', { class: 'note' })
const question = endQuestion(() => ending)
const locks = locksSection({ ending: () => ending, ask: question.ask })
const [leases, queues, deadlocks] = [leasesSection(), queuesSection(), deadlocksView()]
const whole = (value: number): string => value.toLocaleString('en')
const graphs = [
  graphOf({ name: 'Waiting', of: (point) => point.waiting, text: whole }),
  graphOf({ name: 'Longest wait', of: (point) => point.longestWaitMs, text: duration }),
  graphOf({ name: 'Holding', of: (point) => point.holding, text: whole }),
  graphOf({ name: 'Leases', of: (point) => point.leases, text: whole }),
  graphOf({
    name: 'Claims per second',
    of: (point) => point.claimsPerSecond,
    text: (rate) => `≥ ${rate.toFixed(1)}`,
  }),
]
const [unseen, notSeen] = [element('ul', { class: 'unseen' }), element('details', { id: 'unseen' })]
notSeen.append(element('summary', {}, 'What the database does not show'), unseen)
const drawUnseen = keyedList<string>(
  unseen,
  (text) => text,
  (text) => ({ node: element('li', {}, visible(text)), update: () => {} }),
)
const controls = controlsOf({
  onWanted: (now) => {
    wanted = now
    draw()
  },
  onPause: (isPaused) => {
    condition = { ...condition, isPaused }
    if (isPaused) stream?.close()
    else listen()
    status.draw(condition)
  },
})

function draw(): void {
  status.draw(condition)
  for (const graph of graphs) graph.draw(points)
  if (look === undefined) return
  setText(server, `${look.dialect} ${look.version}, answered in ${look.tookMs} ms`)
  locks.draw(linesOf(look.sessions, wanted), look.sessions.length)
  leases.draw(
    look.leases.filter((lease) => isWantedLease(lease, wanted)),
    look.leases.length,
  )
  queues.draw(look.queues, look.queues.length)
  deadlocks.draw(look.deadlocks)
  show(notSeen, look.unseen.length > 0)
  drawUnseen(look.unseen)
  const waiting = look.sessions.filter(({ waits }) => waits !== undefined).length
  const name = waiting === 0 ? 'Holdfast board' : `(${waiting} waiting) Holdfast board`
  if (document.title !== name) document.title = name
}

function greet({ title: name, ending: now, history }: Greeting): void {
  setText(title, visible(name))
  ending = now
  points = joined([], history)
  controls.say(now.isAllowed ? (now.reason ?? '') : '')
}

function hear({ look: newest, ageMs = 0, failure, points: more }: News): void {
  const now = performance.now()
  if (newest !== undefined) look = newest
  points = joined(points, more)
  condition = {
    ...condition,
    hasBoard: true,
    lookedAt: newest === undefined ? undefined : now - ageMs,
    failure: failure && { message: failure.message, since: now - failure.forMs },
  }
  draw()
}

function listen(): void {
  stream = new EventSource('events')
  stream.addEventListener('greeting', ({ data }) => greet(JSON.parse(String(data)) as Greeting))
  stream.addEventListener('news', ({ data }) => {
    const start = performance.now()
    hear(JSON.parse(String(data)) as News)
    // how long an update takes until it is on the screen, for whoever wants to know: one entry, the newest
    requestAnimationFrame(() =>
      setTimeout(() => {
        performance.clearMeasures('update')
        performance.measure('update', { start, end: performance.now() })
      }),
    )
  })
  // the browser itself tries again
  stream.addEventListener('error', () => {
    if (condition.isPaused) return
    condition = { ...condition, hasBoard: false }
    status.draw(condition)
  })
}

document.body.append(
  element('a', { class: 'skip', href: '#locks' }, 'Skip to the locks'),
  element('header', {}, element('h1', {}, 'Holdfast board'), title, server, status.pill, controls.pause),
  status.banner,
  element(
    'main',
    {},
    controls.node,
    element('div', { class: 'graphs' }, ...graphs.map(({ node }) => node)),
    element('p', { class: 'note' }, 'The last ten minutes. Where a line is missing, nobody has looked.'),
    locks.node,
    leases.node,
    queues.node,
    deadlocks.node,
    notSeen,
  ),
  question.node,
)
listenToKeys(controls)
draw()
listen()
setInterval(() => status.draw(condition), 1000)
