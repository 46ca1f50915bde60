import { succeeds } from '../succeeds.ts'
import type { DriverTraits } from '../traits.ts'
import { beginText } from './begin-text.ts'
import { bodyTraits } from './body.ts'
import { guardKept, takesOwnQueries } from './guard-kept.ts'
import { LastRows } from './last-rows.ts'

/** For libraries that send their statements through `pg`. */
export const traits: DriverTraits = {
  // one message, whose rows Kysely would drop: the transaction's number, by which the server tells what became of it
  begin: (start, keeper) => {
    const text = beginText(start)
    return [takesOwnQueries(keeper) && text.includes(';') ? (new LastRows(text) as unknown as string) : text]
  },
  body: bodyTraits,
  // one message; refused outside of a transaction, and in one that an error has ended
  isInTransaction: (say) => succeeds(say('SAVEPOINT holdfast; RELEASE SAVEPOINT holdfast')),
  toDriver: (value) => value,
  guard: guardKept,
  cleanUp: [
    { sql: 'SELECT pg_advisory_unlock_all()', params: [] },
    { sql: 'RESET lock_timeout', params: [] },
  ],
}
