import { randomBytes } from 'node:crypto'

import type { DeclaredTraits } from '../declared.ts'
import { countReturned } from '../optimistic-sql.ts'

/** In the message of the error, which tells it from any other of the same code, and from what an application sends. */
const mark = `holdfast ${randomBytes(6).toString('hex')}: other rows than expected`

/**
 * A statement that changes rows may stand in WITH, but only at the top, so one that has a WITH of its own may not. What it
 * gives is counted once, before the first row of it is given. The text is no boolean, which the server finds out only when
 * it has counted.
 */
export const declared: DeclaredTraits = {
  counted: countReturned,
  guarded: ({ sql, params }, { expected: { least, most }, returns, hasWith }) => {
    if (hasWith) return undefined
    const isRight = most === Infinity ? `count(*) >= ${least}` : `count(*) BETWEEN ${least} AND ${most}`
    const given = returns ? sql : `${sql}\nRETURNING 1`
    const count = `SELECT CASE WHEN ${isRight} THEN ${returns} ELSE ('${mark}, but ' || count(*))::boolean END FROM holdfast`
    const rows = returns ? 'SELECT * FROM holdfast' : 'SELECT'
    return { sql: `WITH holdfast AS (\n${given}\n) ${rows} WHERE (${count})`, params }
  },
  isGuard: (error) => error instanceof Error && error.message.includes(mark),
}
