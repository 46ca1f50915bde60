import type { Row, SqlStatement } from '../../core/statement.ts'
import { sendInTurn } from '../transaction-start.ts'
import type { SendRaw } from './raw.ts'
import type { ForgeTraits } from './traits.ts'

/** Sends a statement of ours, so that the client can read the answer. Gives the rows of the last, where it is several. */
export async function sendReadable(
  send: SendRaw,
  { sql, params }: SqlStatement,
  { readable, driver }: ForgeTraits,
): Promise<readonly Row[]> {
  const values = params.map(driver.toDriver)
  return (await sendInTurn(readable(sql), (text) => send(text, values))) ?? []
}
