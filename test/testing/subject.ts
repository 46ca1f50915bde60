import type { Subject } from '../../src/conformance/subject.ts'
import type { Session, Sessions } from '../../src/core/session.ts'
import { isSql } from '../../src/core/statement.ts'
import { Memory } from '../../src/testing/memory.ts'
import type { MemorySession } from '../../src/testing/session.ts'
import { memorySessions } from '../../src/testing/sessions.ts'
import { lawDialect, lookIn } from './law-tools.ts'

/** The memory, as the laws take it: each client has a pool of its own, whose places have numbers that stay. */
export function memorySubject(memory: Memory = new Memory()): Subject {
  const places: Places = new Map()
  let pools = 0
  return {
    title: 'holdfast/testing',
    adapter: 'driver',
    dialects: [lawDialect],
    connect: async () => ({
      sessions: poolOf(memory, { places, prefix: `${(pools += 1)}-` }),
      close: async () => {},
    }),
  }
}

/** Who has which place of which pool. */
type Places = Map<string, MemorySession<object>>

function poolOf(memory: Memory, { places, prefix }: { places: Places; prefix: string }): Sessions<object> {
  const sessions = memorySessions<object>(memory, () => ({}))
  return {
    ...sessions,
    open: async () => {
      const session = (await sessions.open()) as MemorySession<object>
      const free = Array.from({ length: 100 }, (_, at) => `${prefix}${at}`).find((id) => !places.has(id))
      const place = free ?? session.id
      places.set(place, session)
      const leave =
        <A extends unknown[]>(end: (...args: A) => Promise<void>) =>
        (...args: A) => {
          places.delete(place)
          return end(...args)
        }
      const run: Session['run'] = async (statement) => {
        const look = isSql(statement) ? undefined : lookIn(statement)
        if (look === undefined) return session.run(statement)
        const lost = session.whyLost()
        if (lost !== undefined) throw lost
        return look({ memory, session, place, places })
      }
      const own = { run, release: leave(session.release), destroy: leave(session.destroy) }
      const properties = Object.entries(own).map(([name, value]) => [name, { value }])
      return Object.create(
        session,
        Object.fromEntries(properties) as PropertyDescriptorMap,
      ) as Session<object>
    },
  }
}
