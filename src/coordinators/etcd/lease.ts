import type { Answers, DocumentCommand } from '../../core/statement.ts'
import type { LeaseClaim, LeaseHeld, LeaseHolder } from '../../dialects/lease.ts'
import type { CoordinatorCommands } from '../commands.ts'

/** What is asked of the cluster: a few requests, of which the last one counts. */
export type Operation =
  | { readonly operation: 'acquire'; readonly key: string; readonly claim: LeaseClaim }
  | { readonly operation: 'renew'; readonly key: string; readonly held: LeaseHeld; readonly ttlMs: number }
  | {
      readonly operation: 'release'
      readonly key: string
      readonly holder: LeaseHolder
      readonly holdMs: number
    }
  | { readonly operation: 'holder'; readonly key: string }
  | {
      readonly operation: 'look'
      readonly names: readonly string[]
      readonly keyOf: (name: string) => string
    }

/** One operation: on one lease, or a look at many. */
export interface EtcdCommand extends DocumentCommand {
  readonly command: Operation
}

const claimed = { column: 'answer', meaning: { 1: 'granted', 0: 'busy' } } as const
const held = { column: 'answer', meaning: { 1: 'granted', 0: 'not-held' } } as const
const released = { column: 'answer', meaning: { 1: 'released', 0: 'not-held' } } as const

function command(does: Operation, answers: Answers): EtcdCommand {
  return { command: does, answers }
}

/** The commands of leases whose keys begin with this text. */
export function leaseCommands(prefix: string): CoordinatorCommands {
  const keyOf = (name: string): string => `${prefix}${name}`
  return {
    schema: [],
    topic: prefix,
    acquire: (claim) => [command({ operation: 'acquire', key: keyOf(claim.name), claim }, claimed)],
    renew: (lease, ttlMs) => [
      command({ operation: 'renew', key: keyOf(lease.name), held: lease, ttlMs }, held),
    ],
    release: (holder, holdMs) => [
      command({ operation: 'release', key: keyOf(holder.name), holder, holdMs }, released),
    ],
    holder: (name) => command({ operation: 'holder', key: keyOf(name) }, held),
    look: (names): EtcdCommand => ({ command: { operation: 'look', names, keyOf } }),
  }
}
