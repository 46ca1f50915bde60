import { clearTimeout, performance, setTimeout } from '../../core/clock.ts'
import { attendanceIn, type Attendance, type Room } from './attendance.ts'
import { createEar, listenTo, type Ear, type Listen } from './ear.ts'
import { createLine, type Line } from './line.ts'
import { newsText, readNews, type News } from './news.ts'

/** Wakes those who wait for a lease when it is their turn, as far as anybody hears of it. */
export interface Bell {
  /** Somebody waits for a lease. As long as anybody does, and a little longer, releases are listened for. */
  readonly attend: (name: string) => Attendance
  /** Somebody waits for any of many leases, and is to be woken when one of them may be free. */
  readonly watch: (watcher: Watcher) => Watch
  /** What others are to be told with a release. */
  readonly farewell: (name: string) => string
  /** A lease was released here. */
  readonly ring: (name: string) => void
  /** Listens no more, for good: it takes a connection that others need. */
  readonly silence: () => void
}

export interface Watcher {
  readonly concerns: (name: string) => boolean
  readonly wake: () => void
}

export interface Watch extends Pick<Attendance, 'isTold' | 'listen' | 'leave'> {}

export interface BellTerms {
  readonly listen: Listen | undefined
  /** What this process is called in the lines of others. */
  readonly me: string
  /** Tells others what goes with no request. */
  readonly tell: (message: string) => void
}

/** Whoever has just had a lease may want it again: it then need neither listen nor stand in line anew. */
const lingerMs = 250

interface House {
  readonly rooms: Map<string, Room>
  readonly watchers: Set<Watcher>
  readonly ear: Ear
  readonly me: string
  readonly tell: (message: string) => void
}

export function createBell({ listen, me, tell }: BellTerms): Bell {
  const rooms = new Map<string, Room>()
  const watchers = new Set<Watcher>()
  const ear = createEar(listen, (message) => {
    if (message === '') lookEverywhere(house)
    else hear(house, readNews(message))
  })
  const house: House = { rooms, watchers, ear, me, tell }
  const farewell = (name: string): News => {
    const isMember = rooms.has(name) && ear.isOpen()
    return { kind: 'freed', member: isMember ? me : undefined, name }
  }
  return {
    silence: ear.silence,
    farewell: (name) => newsText(farewell(name)),
    ring: (name) => hear(house, farewell(name)),
    attend: (name) => {
      const room = rooms.get(name) ?? { line: createLine(me), waiters: new Set() }
      rooms.set(name, room)
      clearTimeout(room.closing)
      const leave = (): void => {
        if (ear.isOpen()) room.closing = setTimeout(close, lingerMs, house, name).unref()
        else close(house, name)
      }
      return attendanceIn(room, { ear, me, name, leave })
    },
    watch: (watcher) => {
      watchers.add(watcher)
      return {
        isTold: ear.isOpen,
        listen: (topic, patienceMs) => listenTo(ear, topic, patienceMs),
        leave: () => {
          watchers.delete(watcher)
          setTimeout(closeEar, lingerMs, house).unref()
        },
      }
    },
  }
}

function hear(house: House, news: News): void {
  if (news.kind === 'freed') for (const { concerns, wake } of house.watchers) if (concerns(news.name)) wake()
  const room = house.rooms.get(news.name)
  // its own taking is known before, and may be over when it is heard of
  if (room === undefined || (news.kind === 'took' && news.member === house.me)) return
  const { line, waiters } = room
  line.hear(news)
  // others need not wait for one who is first and does not ask
  if (waiters.size === 0 && line.turnAt() <= performance.now()) leaveLine(house, line, news.name)
  for (const waiter of waiters) waiter.hear(news)
}

/** What was known of others is not known any longer. */
function lookEverywhere(house: House): void {
  for (const { wake } of house.watchers) wake()
  for (const [name, { line }] of house.rooms) {
    line.clear()
    hear(house, { kind: 'freed', member: undefined, name })
  }
}

function leaveLine({ ear, me, tell }: House, line: Line, name: string): void {
  if (line.since() === undefined) return
  const left: News = { kind: 'left', member: me, name }
  if (ear.isOpen() && line.hasOthers()) tell(newsText(left))
  line.hear(left)
}

function close(house: House, name: string): void {
  const { rooms } = house
  const room = rooms.get(name)
  if (room === undefined || room.waiters.size > 0) return
  leaveLine(house, room.line, name)
  rooms.delete(name)
  closeEar(house)
}

/** Once nobody waits for anything. */
function closeEar({ rooms, watchers, ear }: House): void {
  if (rooms.size === 0 && watchers.size === 0) ear.close()
}
