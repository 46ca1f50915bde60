import { expect, test } from 'vitest'

import { mysqlProtocol, postgresProtocol } from '../wire/protocols.ts'
import { startProxy } from '../wire/proxy.ts'
import { describeOrms, lockFirst, type OrmContext } from './describe-orms.ts'
import type { OpenOptions } from './stage.ts'

describeOrms(specs, ['postgres', 'mysql', 'mariadb'])

// of a prepared statement the command alone is seen
const [select, update] = [/^(?:select .* for update|command 23)$/i, /^(?:update |command 23$)/i].map((text) =>
  expect.stringMatching(text),
)

/** As many as through the driver itself, see test/wire. */
function specs(context: OrmContext): void {
  const isPostgres = context.name === 'postgres'

  test.skipIf(isPostgres)(
    'a transaction with a locked row costs 2 round trips besides its statements',
    async () => {
      expect(await tripsOf(context)).toEqual(['START TRANSACTION', select, update, 'COMMIT'])
    },
  )

  test.runIf(isPostgres)(
    'and 1 where the beginning rides with the first of them, unless that is off',
    async () => {
      const together = expect.stringMatching(/^BEGIN; SELECT .*; select .* for update$/i)
      expect(await tripsOf(context)).toEqual([together, update, 'COMMIT'])
      const begin = expect.stringMatching(/^BEGIN; SELECT /)
      expect(await tripsOf(context, { pipeline: false })).toEqual([begin, select, update, 'COMMIT'])
    },
  )
}

async function tripsOf({ orm, name, engine }: OrmContext, options?: OpenOptions): Promise<readonly string[]> {
  const protocol = name === 'postgres' ? postgresProtocol : mysqlProtocol
  const proxy = await startProxy(engine.server.url, protocol)
  const own = await orm.open(name, proxy.url, { ...options, size: 1 })
  const work = (balance: number): Promise<void> =>
    own.locks.transaction(async (tx) => {
      await lockFirst(own, tx)
      await own.update(tx, { id: 1, balance })
    })
  await work(1) // logs in, and asks the server once what it is
  const trips = await proxy.during(() => work(2))
  await own.close()
  await proxy.close()
  // Prisma's adapter prepares (22) what it executes (23) every time, which is a trip of the statement's own
  return trips.filter((trip) => trip !== 'command 22')
}
