import mysql from 'mysql2'

import { before, tapState, type Tap } from './tap.ts'

interface Endable {
  end: (done: (error?: unknown) => void) => void
}

/**
 * Hears statements as they are given to `mysql2`, with `?` for a parameter: the driver writes the values into the
 * text itself, so on the wire no two of them need be alike.
 */
export function openTap(): Tap {
  const { hear, note, tap } = tapState<Endable>(
    (one) => new Promise((resolve) => one.end(() => resolve(null))),
  )
  const connection = ownerOf(mysql.Connection.prototype, 'query')
  for (const method of ['query', 'execute'] as const) {
    before(connection, method, (_, [query]) => {
      const text = typeof query === 'string' ? query : (query as { readonly sql?: unknown }).sql
      if (typeof text === 'string') hear(text)
    })
  }
  // there at run time, and missing in its types
  const { Pool } = mysql as unknown as { readonly Pool: { readonly prototype: object } }
  before(ownerOf(Pool.prototype, 'getConnection'), 'getConnection', note)
  return tap
}

type Methods<Name extends string> = Record<Name | 'query' | 'execute', unknown>

/** The class that has the method: the connections of a pool inherit from it too. */
function ownerOf<Name extends string>(prototype: unknown, name: Name): Methods<Name> {
  let owner = prototype as object
  while (!Object.hasOwn(owner, name)) owner = Object.getPrototypeOf(owner) as object
  return owner as Methods<Name>
}
