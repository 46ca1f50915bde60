import { setImmediate as nextRound } from 'node:timers/promises'

import { afterEach, beforeEach, expect, test } from 'vitest'

import { steps } from '../adapters/delayed-answers.ts'
import { caught, gate } from '../entries/stage.ts'
import { mysqlProtocol, postgresProtocol } from '../wire/protocols.ts'
import { startProxy, type Proxy } from '../wire/proxy.ts'
import { describeOrms, type OrmContext } from './describe-orms.ts'
import type { OrmStage } from './stage.ts'

describeOrms(onTheWire, ['postgres', 'mysql', 'mariadb'])
describeOrms(atAnyStep)
describeOrms(releaseFails, ['postgres'])

const undone = 'and with it what was sent beside it'

type Outcome = 'stored' | 'nothing'

async function balanceOf({ app }: OrmContext, id: number): Promise<number | undefined> {
  const [account] = await app.select(id)
  return account?.balance
}

function endAs(outcome: Outcome): void {
  if (outcome === 'nothing') throw new Error('the nested work fails')
}

/** What the outer transaction sends while the savepoint of nested work is on its way. */
function onTheWire(context: OrmContext): void {
  let proxy: Proxy
  let own: OrmStage

  beforeEach(async () => {
    const protocol = context.name === 'postgres' ? postgresProtocol : mysqlProtocol
    proxy = await startProxy(context.engine.server.url, protocol)
    own = await context.orm.open(context.name, proxy.url, { size: 1 })
  })

  afterEach(async () => {
    await own.close()
    await proxy.close()
  })

  const duringSavepoint = async (outcome: Outcome): Promise<string> =>
    own.locks.transaction(async (tx) => {
      await own.select(1, tx)
      const { isAsked, letGo } = proxy.hold(/savepoint/i)
      const nested = own.nest(tx, async (inner) => {
        await own.update(inner, { id: 1, balance: 1 })
        endAs(outcome)
      })
      const isNested = caught(nested)
      await isAsked
      const outer = own.update(tx, { id: 2, balance: 2 }).then(() => 'updated')
      // an ORM makes its statement some steps after it was asked for it
      for (let round = 0; round < 5; round += 1) await nextRound()
      letGo()
      await isNested
      return outer
    })

  test('what is sent before the savepoint is answered is not lost in silence', async () => {
    await expect(duringSavepoint('nothing')).rejects.toThrow(undone)
    expect([await balanceOf(context, 1), await balanceOf(context, 2)]).toEqual([100, 100])
  })

  test('and is stored with nested work that succeeds', async () => {
    expect(await duringSavepoint('stored')).toBe('updated')
    expect([await balanceOf(context, 1), await balanceOf(context, 2)]).toEqual([1, 2])
  })
}

function atAnyStep(context: OrmContext): void {
  const inAsync = test.runIf(context.orm.nesting(context.name) === 'asynchronous')

  inAsync(
    'at whatever step of nested work that fails something is sent, it is stored or the call rejects',
    async () => {
      const { app } = context
      const wrong: number[] = []
      for (let count = 0; count < 60; count += 3) {
        const balance = 1000 + count
        const call = app.locks.transaction(async (tx) => {
          await app.select(1, tx)
          const nested = app.nest(tx, async (inner) => {
            await app.select(2, inner)
            endAs('nothing')
          })
          const isNested = caught(nested)
          await steps(count)
          await app.update(tx, { id: 2, balance })
          await isNested
          return 'stored'
        })
        const isStored = (await caught(call)) === 'no error'
        if (isStored !== ((await balanceOf(context, 2)) === balance)) wrong.push(count)
      }
      expect(wrong).toEqual([])
    },
  )
}

/** PostgreSQL refuses RELEASE after an error that the nested work has caught, and the ORM goes back. */
function releaseFails(context: OrmContext): void {
  test('what was sent beside nested work whose savepoint cannot be released is not lost in silence', async () => {
    const { app } = context
    const [isNested, isSent] = [gate(), gate()]
    const call = app.locks.transaction(async (tx) => {
      const nested = app.nest(tx, async (inner) => {
        await app.update(inner, { id: 1, balance: 1 })
        isNested.open()
        await isSent.opened
        await caught(Promise.resolve(app.insert(inner, { id: 1, balance: 1 })))
      })
      await isNested.opened
      await app.update(tx, { id: 2, balance: 2 })
      isSent.open()
      await caught(nested)
    })
    await expect(call).rejects.toThrow()
    expect([await balanceOf(context, 1), await balanceOf(context, 2)]).toEqual([100, 100])
  })
}
