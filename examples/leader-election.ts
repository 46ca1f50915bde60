/*
 * One of several nodes leads; when it stops, another takes its place.
 *
 * Without the lock each node looks who leads, finds nobody, and writes down its own name: two lead. With a row that is
 * only written, nobody takes the place of a leader that died; the lock is given back by its connection, or by its end.
 */
import { LockNotAvailableError } from 'holdfast'

import { createGate } from './story/meeting.ts'
import { openStory } from './story/story.ts'

await using story = await openStory({ shows: 'One of two nodes leads, and when it stops the other does.' })
let leaders = 0
let mostLeaders = 0

function take(node: string): void {
  leaders += 1
  mostLeaders = Math.max(mostLeaders, leaders)
  console.log(`${node} leads`)
}

async function stand(node: string): Promise<{ isElected: Promise<void>; stop: () => Promise<void> }> {
  const { locks } = await story.connect()
  const stopping = new AbortController()
  const elected = createGate()
  const ended = locks.leader('scheduler', {
    onElected: async () => {
      take(node)
      elected.open()
      // Here the leader works, for as long as its lock's signal has not aborted.
    },
    // Before the lock is given back: the next leader finds the last one gone.
    onLost: () => {
      leaders -= 1
      console.log(`${node} stops`)
    },
    signal: stopping.signal,
  })
  return {
    isElected: elected.isOpen,
    stop: async () => {
      stopping.abort()
      await ended
    },
  }
}

async function elect(): Promise<void> {
  const ada = await stand('ada')
  await ada.isElected
  const { locks } = await story.connect()
  const place = await locks.acquire('scheduler', { wait: 'nowait' }).catch((error: unknown) => error)
  console.log(`the place is ${place instanceof LockNotAvailableError ? 'taken' : 'free'}`)
  const bob = await stand('bob')
  await ada.stop()
  await bob.isElected
  await bob.stop()
}

async function electWithoutLock(): Promise<void> {
  const { tables } = await story.connect()
  await tables().create('leader', { id: 'text' })
  const bothHaveLooked = story.meeting(2)
  const standWithoutLock = async (node: string): Promise<void> => {
    const { unlocked, tables: tablesOf } = await story.connect()
    await unlocked(async (tx) => {
      const found = await tablesOf(tx).find('leader')
      await bothHaveLooked()
      if (found.length === 0) await tablesOf(tx).insert('leader', { id: node })
    })
  }
  await Promise.all(['ada', 'bob'].map(standWithoutLock))
  for (const { id } of await tables().find<{ id: string }>('leader')) take(id)
}

await (story.withoutLock ? electWithoutLock() : elect())
console.log(`at most ${mostLeaders} at a time`)
