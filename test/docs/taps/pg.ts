import pg from 'pg'

import { before, tapState, type Tap } from './tap.ts'

/** A client of a pool, which ends it and does not wait until it has. */
interface Pooled {
  readonly client: pg.Client
  readonly hasEnded: Promise<unknown>
}

/** A query, with what travels ahead of it. */
interface Sent {
  readonly text?: unknown
  readonly ahead?: readonly string[]
}

/** Every statement of `pg` goes through `Client.query`; pools and clients are known once they connect. */
export function openTap(): Tap {
  const { hear, note, tap } = tapState<pg.Pool | pg.Client | Pooled>(end)
  before(pg.Client.prototype, 'query', (_, [query]) => {
    const { text, ahead = [] }: Sent = typeof query === 'string' ? { text: query } : (query as Sent)
    ahead.forEach(hear)
    if (typeof text === 'string') hear(text)
  })
  before(pg.Pool.prototype, 'connect', note)
  before(pg.Client.prototype, 'connect', (client: pg.Client, args) => {
    // a pool gives a callback
    if (args.length === 0) note(client)
    else note({ client, hasEnded: new Promise<void>((resolve) => client.once('end', resolve)) })
  })
  return tap
}

async function end(one: pg.Pool | pg.Client | Pooled): Promise<void> {
  if ('hasEnded' in one) {
    one.client.on('error', () => {}) // the program is over, and its database goes away
    await one.hasEnded
  } else if (!('ended' in one && one.ended)) await one.end()
}
