import type { Library } from '../transactions/library.ts'

/** The same work through an ORM, by Holdfast or by hand. */
export interface Till {
  /** Locks the row of an account, looks whether there is enough, and takes one away. */
  readonly withdraw: (id: number) => Promise<unknown>
  /** Looks for an image of a user, and adds one, under a lock with the user's name. */
  readonly upload: (user: number) => Promise<unknown>
  readonly close: () => Promise<unknown>
}

/** Where a way leads, and how many connections it may have. */
export interface Place {
  readonly url: string
  readonly connections: number
}

/** How an ORM is used. */
export interface OrmTills {
  readonly holdfast: (library: Library, place: Place, options: { readonly pipeline?: boolean }) => Till
  /** As its own docs show it. `limited`: with the limit for waiting that Holdfast sets as well. */
  readonly byHand: (place: Place, limited: boolean) => Till
}

export const lockTimeoutMs = 10_000
export const accounts = 1000

/** One that is never there, so that every upload finds room. */
export const missing = -1

export const schema: readonly string[] = [
  'drop table if exists account',
  'create table account (id int primary key, balance_now int not null)',
  `insert into account select id, 1000000 from generate_series(0, ${accounts - 1}) as id`,
  'drop table if exists image',
  'create table image (id serial primary key, user_id int not null)',
]

export function checkBalance(balance: number | undefined): void {
  if (balance === undefined || balance < 1) throw new Error('nothing is left')
}

export function checkRoom(images: readonly unknown[]): void {
  if (images.length > 0) throw new Error('there is one already')
}
