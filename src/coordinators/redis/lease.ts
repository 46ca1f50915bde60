import { readPermitName } from '../../core/permit-name.ts'
import type { DocumentCommand } from '../../core/statement.ts'
import type { CoordinatorCommands } from '../commands.ts'
import type { ScriptName } from './scripts.ts'

/** One script, with the keys and values that it is run on. */
export interface RedisCommand extends DocumentCommand {
  readonly command: {
    readonly script: ScriptName
    readonly keys: readonly string[]
    readonly args: readonly string[]
    /** What the parts of the reply are called; those that are empty say nothing. */
    readonly columns: readonly string[]
    /** Whether each part is a row of its own, with the `name` of a lease and this column, and not all of them one row. */
    readonly rowsOf?: string
  }
}

const claimed = { column: 'answer', meaning: { 1: 'granted', 0: 'busy' } } as const
const held = { column: 'answer', meaning: { 1: 'granted', 0: 'not-held' } } as const
const released = { column: 'answer', meaning: { 1: 'released', 0: 'not-held' } } as const

/**
 * The commands of leases whose keys begin with this text. Each has one key, so a cluster has it in one slot. Only a look
 * has many: those of one semaphore.
 */
export function leaseCommands(prefix: string): CoordinatorCommands {
  const topic = `${prefix}leases`
  const keyOf = (name: string): string => `${prefix}lease:${withHashTag(name)}`
  const on = (name: string, { columns = ['answer'], ...does }: Does): RedisCommand['command'] => ({
    script: does.script,
    keys: [keyOf(name)],
    args: does.args.map(String),
    columns,
  })
  return {
    schema: [],
    topic,
    acquire: ({ name, owner, ttlMs, news }) => {
      const args = [owner, ttlMs, topic, news?.granted ?? '', news?.busy ?? '']
      const columns = ['answer', 'fence', 'left_ms', 'policy']
      return [{ command: on(name, { script: 'acquire', args, columns }), answers: claimed }]
    },
    renew: ({ name, owner, fence }, ttlMs) => [
      { command: on(name, { script: 'renew', args: [owner, fence, ttlMs] }), answers: held },
    ],
    release: ({ name, owner, fence }, holdMs, news = name) => {
      const args = [owner, fence ?? '', holdMs, topic, news]
      return [{ command: on(name, { script: 'release', args }), answers: released }]
    },
    holder: (name) => {
      const columns = ['answer', 'owner', 'fence', 'remaining_ms']
      return { command: on(name, { script: 'holder', args: [], columns }), answers: held }
    },
    look: (names): RedisCommand => ({
      command: { script: 'look', keys: names.map(keyOf), args: [], columns: names, rowsOf: 'left_ms' },
    }),
    tell: (news): RedisCommand => ({
      command: { script: 'tell', keys: [], args: [topic, news], columns: ['answer'] },
    }),
  }
}

/**
 * A cluster chooses the slot of a key by what stands in braces: so it has all leases of a semaphore in one, where one
 * script can look at them.
 */
function withHashTag(name: string): string {
  const { hash } = readPermitName(name) ?? {}
  return hash === undefined ? name : `${name.slice(0, -hash.length)}{${hash}}`
}

/** A script that is run on the key of one lease. */
interface Does {
  readonly script: ScriptName
  readonly args: readonly (string | number)[]
  readonly columns?: readonly string[]
}
