import { canListen } from '../../src/connect/embedded/free-port.ts'
import { tryHoldName } from './held-name.ts'

const FIRST = 20_000
const LAST = 32_000

/**
 * A loopback port that nobody listens on and that no other call gives out while this process lives.
 *
 * It lies below the ephemeral range, so no outgoing connection can take it before the server binds it.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST))
    const giveBack = await tryHoldName(`port ${port}`)
    if (giveBack === undefined) continue
    if (await canListen(port)) return port
    await giveBack()
  }
  throw new Error(`no free port found between ${FIRST} and ${LAST}`)
}
