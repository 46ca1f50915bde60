import { classifyFor, type ErrorSource } from '../../core/classify.ts'
import { LockUsageError } from '../../core/errors.ts'
import { released, type Session, type Sessions } from '../../core/session.ts'
import { mustHave } from '../must-have.ts'
import { sqlOnly } from '../statement-kind.ts'
import { hasEnded, mannerOf } from '../transaction-body.ts'
import type { ForgeClient, ForgeBegin } from './client.ts'
import { LevelCheck } from './level.ts'
import { outsideOf } from './outside.ts'
import { rawOn, rawPairs } from './raw.ts'
import { ForgeTransaction } from './transaction.ts'
import type { ForgeTraits } from './traits.ts'

/** How long the client waits for a connection, and for a transaction. */
export interface ForgeLimits {
  /** After how long the client ends a transaction by itself. @default never, as far as the client can count */
  readonly timeout?: number
  /** How long the client waits for a connection of its own. @default 60_000 */
  readonly maxWait?: number
}

export interface ForgeSessionOptions extends ForgeLimits {
  readonly traits: ForgeTraits
  /** What the errors of the database mean. */
  readonly dialect: ErrorSource
}

/** More than this is one millisecond to the timers of JavaScript. */
const LONGEST_MS = 2 ** 31 - 1

let clients = 0

/**
 * Sessions of a client that has no connections to lend: only its own transactions have one.
 *
 * A session is in a transaction of the client's from `begin` to the end. Before and after that, each statement is on a
 * connection of the client's choice, so nothing that belongs to a connection can be had.
 */
export function sessions(client: ForgeClient, options: ForgeSessionOptions): Sessions<object> {
  checkClient(client)
  const { traits, dialect, timeout = LONGEST_MS, maxWait = 60_000 } = options
  const limits: ForgeBegin = { timeout, maxWait }
  const levels = new LevelCheck(traits)
  const name = `a client without connections of its own, ${(clients += 1)}`
  const isLost = (error: unknown): boolean => classifyFor(error, dialect).kind === 'connection-lost'
  const isAnswered = (error: unknown): boolean => {
    const { code } = classifyFor(error, dialect)
    return code !== undefined || typeof (error as { readonly code?: unknown } | undefined)?.code === 'string'
  }
  const isBusy = (error: unknown): boolean => classifyFor(error, dialect).kind === 'busy'
  let checked: Promise<void> | undefined
  const open = async (): Promise<Session<object>> => {
    checked ??= traits.check?.(rawOn(client))
    await checked?.catch((error: unknown) => {
      checked = undefined
      throw error
    })
    const transaction = new ForgeTransaction({ client, traits, limits, levels, isLost, isAnswered, isBusy })
    return sessionOf(transaction, outsideOf({ client, traits, limits }))
  }
  // those that take turns for one connection take them here, where a wait can be given up
  const shared = { adapter: 'forge', source: client, open, retryableCode: 'P2034' } as const
  return traits.isOneConnection ? { ...shared, lane: () => name, isOneConnection: true } : shared
}

function sessionOf(transaction: ForgeTransaction, outside: ReturnType<typeof outsideOf>): Session<object> {
  let isOver = false
  return {
    tx: transaction.view,
    run: async (statement) => {
      const sql = sqlOnly(statement)
      if (isOver) throw hasEnded()
      return transaction.isHeld ? transaction.run(sql, mannerOf(sql)) : outside(sql)
    },
    begin: (start) => (isOver ? Promise.reject(hasEnded()) : transaction.begin(start)),
    commit: () => transaction.commit(),
    rollback: () => transaction.rollback(),
    stored: () => transaction.body.stored,
    untilIdle: () => transaction.untilIdle(),
    witness: transaction.body,
    release: () => {
      isOver = true
      return released
    },
    destroy: () => {
      isOver = true
      return transaction.destroy()
    },
  }
}

function checkClient(client: ForgeClient): void {
  const pass = 'a client with $transaction, $queryRawUnsafe and $executeRawUnsafe'
  mustHave(client, { field: 'client', methods: ['$transaction'], pass })
  const members = client as unknown as Readonly<Record<string, unknown>>
  for (const pair of rawPairs)
    if (!pair.some((name) => typeof members[name] === 'function'))
      throw new LockUsageError('client', `has neither ${pair.join(' nor ')}: pass ${pass}`)
}
