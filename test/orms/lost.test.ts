import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'

import { expect, test } from 'vitest'

import type { EngineSession } from '../engines/engine.ts'
import { until } from '../engines/until.ts'
import { caught } from '../entries/stage.ts'
import { describeOrms, type OrmContext } from './describe-orms.ts'
import type { OrmStage } from './stage.ts'

describeOrms(specs, ['mysql', 'mariadb'])

/** What the work does that has lost its connection, without knowing of it. */
const ends: Readonly<Record<string, (app: OrmStage, tx: unknown) => Promise<unknown>>> = {
  'returns, so that COMMIT is never sent': async () => {},
  'sends another statement': async (app, tx) => app.insert(tx, { id: 4, balance: 4 }),
  'catches the error of another statement': (app, tx) => caught(app.send(tx, 'select 1')),
}

function specs(context: OrmContext): void {
  test.each(Object.entries(ends))('work on a lost connection that %s is run again', async (_, end) => {
    const { app, sockets } = await openOne(context)
    let runs = 0
    try {
      await app.locks.transaction(
        async (tx) => {
          runs += 1
          await app.insert(tx, { id: 3, balance: runs })
          if (runs > 1) return
          await app.send(tx, "select get_lock('mine', 0)")
          await context.engine.kill(await holderOf(context))
          // looked at, because a driver may take every listener off a socket that it has lost
          await until(() => sockets.some(({ destroyed }) => destroyed), 'the driver has seen the loss')
          await end(app, tx)
        },
        { backoff: { baseMs: 1 } },
      )
      expect(runs).toBe(2)
      expect(await app.select(3)).toEqual([{ id: 3, balance: 2 }])
      expect(await app.select(4)).toEqual([])
    } finally {
      await app.close()
    }
  })
}

/** An application with one connection, which is open. */
async function openOne({
  orm,
  name,
  engine,
}: OrmContext): Promise<{ app: OrmStage; sockets: readonly Socket[] }> {
  const sockets: Socket[] = []
  const note = (message: unknown): void => void sockets.push((message as { readonly socket: Socket }).socket)
  subscribe('net.client.socket', note)
  const app = await orm.open(name, engine.server.url, { size: 1 })
  await app.select(1)
  unsubscribe('net.client.socket', note)
  const open = sockets.filter(({ destroyed }) => !destroyed)
  if (open.length === 0) throw new Error(`${orm.name} opened no connection`)
  return { app, sockets: open }
}

async function holderOf({ engine }: OrmContext): Promise<EngineSession> {
  const session = await engine.open()
  const [row] = await session.run({ sql: "select is_used_lock('mine') as id", params: [] })
  await session.close()
  return { id: String(row?.id) } as EngineSession
}
