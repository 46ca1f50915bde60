import { libraryOf } from '../adapters/libraries.ts'

/** The pool or handle that an ORM was given or has made, where the ORM shows it. */
export function beneath(db: object): object {
  if (db == null) return db
  const pool = shown[libraryOf(db)?.entry ?? '']?.(db)
  return typeof pool === 'object' && pool !== null ? pool : db
}

interface Shown {
  readonly $client?: unknown
  readonly driver?: { readonly master?: unknown; readonly pool?: unknown }
}

const shown: Readonly<Record<string, (db: Shown) => unknown>> = {
  drizzle: ({ $client }) => $client,
  typeorm: ({ driver }) => driver?.master ?? driver?.pool,
}
