import type { LockKey } from '../core/key.ts'
import { createActor, type Actor } from './actor.ts'
import { openClient } from './client.ts'
import type { Ground } from './ground.ts'
import { expectSameSettings, settingsOf } from './hygiene.ts'
import type { Client, Fault, Sabotage } from './subject.ts'

/** One application that takes part in a law. */
interface Member {
  readonly client: Client
  readonly actor: Actor
  /** The settings of its connections when they were new. */
  readonly settings: readonly string[]
}

/** Everybody who takes part in a law. */
export interface Cast {
  /** Who has this name: opened when first asked for, on a wire with this fault. */
  readonly member: (name: string, fault?: Fault) => Promise<Member>
  /** Breaks the law when somebody's connections are not as they were. */
  readonly expectSameSettings: () => Promise<void>
  /** Ends what everybody has open, once `undos` are done. */
  readonly leave: (undos: readonly (() => Promise<unknown>)[]) => Promise<void>
}

/** Enough for work in a transaction, a lock that is held beside it, and the library's own look at the server. */
const poolSize = 3

interface Scene {
  readonly table: string
  readonly keyOf: (name: string) => LockKey
  readonly sabotage: Sabotage | undefined
}

export function createCast(ground: Ground, { table, keyOf, sabotage }: Scene): Cast {
  const { server, command, subject } = ground
  const members = new Map<string, Promise<Member>>()
  const join = async (fault?: Fault): Promise<Member> => {
    const client = await openClient(subject, { size: poolSize, server, sabotage, fault })
    const actor = createActor({ client, tools: server.tools, table, keyOf, command })
    return { client, actor, settings: await settingsOf(ground, client) }
  }
  return {
    member: (name, fault) => {
      const joined = members.get(name) ?? join(fault)
      members.set(name, joined)
      return joined
    },
    expectSameSettings: async () => {
      for (const [name, joined] of members) {
        const { client, settings } = await joined
        expectSameSettings(name, settings, await settingsOf(ground, client))
      }
    },
    leave: async (undos) => {
      const joined = await Promise.allSettled(members.values())
      const present = joined.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
      await Promise.allSettled(undos.map((undo) => undo()))
      await Promise.all(present.map(({ actor }) => actor.leave()))
      await Promise.all(present.map(({ client }) => client.close()))
    },
  }
}
