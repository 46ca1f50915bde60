import { sql, type Kysely } from 'kysely'
import { expect, test } from 'vitest'

import type { Session } from '../../src/core/session.ts'
import { describeEngines } from '../engines/use.ts'
import { subjects } from './subject.ts'

interface Querying {
  query(text: string): Promise<unknown>
}

/** How the work sends a text. Where its statements are sent at once, nothing need be waited for to know of them. */
const ways: Readonly<Record<string, (tx: unknown, text: string) => Promise<unknown>>> = {
  pg: (tx, text) => (tx as Querying).query(text),
  mysql2: (tx, text) => (tx as Querying).query(text),
  'kysely over pg': (tx, text) => sql.raw(text).execute(tx as Kysely<unknown>),
  'kysely over mysql2': (tx, text) => sql.raw(text).execute(tx as Kysely<unknown>),
}

for (const { title, engines, connect } of subjects) {
  const send = ways[title]
  if (send !== undefined)
    describeEngines(
      (context) => {
        const inTransaction = async (work: (session: Session) => Promise<void>): Promise<void> => {
          const { sessions, close } = await connect(context.engine.server.url)
          const session = await sessions.open()
          await session.begin()
          await work(session)
          await session.rollback()
          await session.release()
          await close()
        }

        test(`${title}: work that has awaited its statements does not wait before COMMIT`, () =>
          inTransaction(async (session) => {
            await send(session.tx, 'select 1')
            await Promise.all([send(session.tx, 'select 2'), send(session.tx, 'select 3')])
            expect(session.untilIdle?.()).toBeUndefined()
          }))

        test(`${title}: a statement counts as soon as it is given`, () =>
          inTransaction(async (session) => {
            const given = send(session.tx, 'select 1')
            const idle = session.untilIdle?.()
            expect(idle).toBeInstanceOf(Promise)
            await idle
            expect(await given).toBeDefined()
          }))
      },
      { only: engines },
    )
}
