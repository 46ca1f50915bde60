import type { Generated } from 'kysely'

/** The tables that the specs lock. */
export interface Database {
  account: AccountTable
  owner: { id: number; name: string }
  log: { id: Generated<number>; account_id: number }
  'bank.account': AccountTable
  'shop.account': AccountTable
}

interface AccountTable {
  id: number
  owner_id: number | null
  balance: number
}
