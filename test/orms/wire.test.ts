import { expect, test } from 'vitest'

import { mysqlProtocol, postgresProtocol } from '../wire/protocols.ts'
import { startProxy } from '../wire/proxy.ts'
import { describeOrms, lockFirst, type OrmContext } from './describe-orms.ts'

describeOrms(specs, ['postgres', 'mysql', 'mariadb'])

/** As many as through the driver itself, see test/wire. */
function specs(context: OrmContext): void {
  const start = context.name === 'postgres' ? /^BEGIN; SELECT / : /^START TRANSACTION$/

  test('a transaction with a locked row costs 2 round trips besides its statements', async () => {
    const protocol = context.name === 'postgres' ? postgresProtocol : mysqlProtocol
    const proxy = await startProxy(context.engine.server.url, protocol)
    const own = await context.orm.open(context.name, proxy.url, 1)
    const work = (balance: number): Promise<void> =>
      own.locks.transaction(async (tx) => {
        await lockFirst(own, tx)
        await own.update(tx, { id: 1, balance })
      })
    await work(1) // logs in, and asks the server once what it is
    const trips = await proxy.during(() => work(2))
    await own.close()
    await proxy.close()
    expect(trips).toEqual([
      expect.stringMatching(start),
      expect.stringMatching(/^select .* for update$/i),
      expect.stringMatching(/^update /i),
      'COMMIT',
    ])
  })
}
