import type { Isolation } from '../core/request.ts'
import type { LeaseOptions } from '../locks/lease/options.ts'
import type { AcquireOptions } from '../locks/named/acquire.ts'
import type { JoinOptions, WithLockOptions } from '../locks/named/lock-options.ts'
import type { RowOptions } from '../locks/rows/rows.ts'
import type { TransactionOptions } from '../locks/transaction/options.ts'

/**
 * One thing that a session can do in a schedule. It names rows by their ids and locks by short names, and no database.
 *
 * `begin` opens nothing by itself: the transaction starts with the next action, as every engine's snapshot does.
 */
export type Action =
  | { readonly verb: 'begin'; readonly options?: TransactionOptions }
  | {
      readonly verb: 'begin-locked'
      readonly key: string | readonly string[]
      readonly options?: WithLockOptions
    }
  | { readonly verb: 'lock-row'; readonly ids: number | readonly number[]; readonly options?: RowOptions }
  | { readonly verb: 'lock-name'; readonly key: string; readonly options?: JoinOptions }
  | { readonly verb: 'read'; readonly id: number }
  | { readonly verb: 'write'; readonly id: number; readonly n: number }
  | { readonly verb: 'add'; readonly id: number; readonly by: number }
  | { readonly verb: 'add-to-seen'; readonly id: number; readonly by: number }
  | { readonly verb: 'insert'; readonly id: number; readonly n: number }
  | { readonly verb: 'delete'; readonly id: number }
  | { readonly verb: 'commit' }
  | { readonly verb: 'roll-back' }
  | { readonly verb: 'try-name'; readonly key: string; readonly isolation?: Isolation }
  | { readonly verb: 'acquire'; readonly key: string; readonly options?: AcquireOptions }
  | { readonly verb: 'lease'; readonly key: string; readonly options?: LeaseOptions }
  | { readonly verb: 'release'; readonly key: string }
  | { readonly verb: 'lose-connection' }
  | { readonly verb: 'give-up' }

/** The actions with this verb. */
export type ActionOf<V extends Action['verb']> = Extract<Action, { readonly verb: V }>

/** What is done with a transaction, or without one. */
export type SessionVerb =
  | 'begin'
  | 'begin-locked'
  | 'commit'
  | 'roll-back'
  | 'try-name'
  | 'acquire'
  | 'lease'
  | 'release'
  | 'give-up'

/** What is done inside of a transaction. */
export type TransactionVerb = Exclude<Action['verb'], SessionVerb>

/** The action in words, for timelines and messages. */
export function describeAction(action: Action): string {
  switch (action.verb) {
    case 'begin':
      return `begin${optionsText(action.options)}`
    case 'begin-locked':
      return `begin with the lock ${[action.key].flat().join(' and ')}${optionsText(action.options)}`
    case 'lock-row':
      return `lock row ${[action.ids].flat().join(', ')}${optionsText(action.options)}`
    case 'lock-name':
      return `take the lock ${action.key}${optionsText(action.options)}`
    case 'read':
      return `read row ${action.id}`
    case 'write':
      return `set row ${action.id} to ${action.n}`
    case 'add':
      return `add ${action.by} to row ${action.id}`
    case 'add-to-seen':
      return `set row ${action.id} to what it saw and ${action.by} more`
    case 'insert':
      return `insert row ${action.id} with ${action.n}`
    case 'delete':
      return `delete row ${action.id}`
    case 'commit':
      return 'commit'
    case 'roll-back':
      return 'roll back'
    case 'try-name':
      return `try the lock ${action.key}`
    case 'acquire':
      return `acquire ${action.key}${optionsText(action.options)}`
    case 'lease':
      return `lease ${action.key}${optionsText(action.options)}`
    case 'release':
      return `release ${action.key}`
    case 'lose-connection':
      return 'lose the connection'
    case 'give-up':
      return 'give up waiting'
  }
}

function optionsText(options: object = {}): string {
  const words = Object.entries(options).map(
    ([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`,
  )
  return words.length === 0 ? '' : ` (${words.join(', ')})`
}
