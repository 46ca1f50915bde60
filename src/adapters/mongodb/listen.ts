import type { Sessions } from '../../core/session.ts'
import { inTurn } from '../turn.ts'

/** What is used of `mongodb`'s `Db` to hear of changes. */
export interface ListeningDatabase {
  collection(name: string): { watch(pipeline: Record<string, unknown>[]): ChangeStream }
}

export interface ChangeStream {
  next(): Promise<unknown>
  once(event: 'resumeTokenChanged', listener: () => void): unknown
  close(): Promise<void>
}

type Listener = { readonly wake: (message: string) => void }

/** One collection, and those who want to hear of it. */
interface Watch {
  readonly stream: ChangeStream
  readonly listeners: Set<Listener>
}

/** Only which document it was: its contents need not travel. */
const pipeline = [
  { $match: { operationType: { $in: ['insert', 'update', 'replace', 'delete'] } } },
  { $project: { documentKey: 1 } },
]

/**
 * Hears of the changes to a collection, by the ids of the documents; the topic is the collection's name.
 *
 * Rejects where the deployment has no change streams. When a stream breaks for good, every listener is woken once with
 * an empty message, and hears no more.
 */
export function listenIn(database: () => ListeningDatabase): NonNullable<Sessions['listen']> {
  const watches = new Map<string, Watch>()
  const open = async (topic: string): Promise<Watch> => {
    const watch = { stream: database().collection(topic).watch(pipeline), listeners: new Set<Listener>() }
    const first = watch.stream.next()
    // the server's first answer has a place to resume from: what changes after it is heard
    await Promise.race([
      first,
      new Promise<void>((resolve) => watch.stream.once('resumeTokenChanged', resolve)),
    ])
    watches.set(topic, watch)
    void follow(watch, first).then(() => watches.get(topic) === watch && watches.delete(topic))
    return watch
  }
  return (topic, wake) =>
    inTurn(watches, async () => {
      const watch = watches.get(topic) ?? (await open(topic))
      const listener = { wake }
      watch.listeners.add(listener)
      return () =>
        inTurn(watches, async () => {
          if (!watch.listeners.delete(listener) || watch.listeners.size > 0) return
          if (watches.get(topic) === watch) watches.delete(topic)
          await watch.stream.close()
        })
    })
}

async function follow({ stream, listeners }: Watch, first: Promise<unknown>): Promise<void> {
  const tell = (message: string): void => {
    for (const { wake } of listeners) wake(message)
  }
  try {
    for (let change = await first; ; change = await stream.next()) tell(idIn(change))
  } catch {
    tell('') // nobody is left to be told when it was closed by us
  }
}

function idIn(change: unknown): string {
  const { documentKey } = change as { readonly documentKey?: { readonly _id: unknown } }
  const { _id: id } = documentKey ?? {}
  return String(id)
}
