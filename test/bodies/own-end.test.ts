import { describe, expect, test } from 'vitest'

import { classifyError } from '../../src/classify.ts'
import { CommitOutcomeUnknownError, LockUsageError } from '../../src/core/errors.ts'
import { caught } from '../entries/stage.ts'
import { describeBodies, note, onKysely, onMariadb, onMysql2, onPg, type Stage } from './stage.ts'

describe('work that ends its transaction itself', () => {
  describeBodies(specs, { only: [onPg, onMysql2, onMariadb, onKysely] })
  describe('by a statement that commits', () => {
    const mysqls = [onMysql2, onMariadb, { ...onKysely, engines: ['mysql', 'mariadb'] }]
    describeBodies(implicitSpecs, { only: mysqls })
  })
  describe('in a text of several statements', () => {
    describeBodies(severalSpecs, { only: [onPg, { ...onKysely, engines: ['postgres'] }] })
  })
})

function specs(stage: Stage): void {
  const { transaction, stored } = stage

  test.each(['COMMIT', ' commit ', '/* app */ Rollback', 'begin', '-- mine\ncommit'])(
    '%j is refused, and not sent',
    async (text) => {
      const said = caught(
        transaction(async (send) => {
          await send(note(1))
          await send(text)
        }),
      )
      expect(await said).toBeInstanceOf(LockUsageError)
      expect(await stored()).toEqual([])
    },
  )

  test('under a named lock is refused, and the lock is there until the end', async () => {
    const { locks, run } = stage.way
    const said = locks.withLock('own end', async (tx) => {
      await run(tx, note(1))
      await caught(run(tx, 'COMMIT'))
      expect(await stored()).toEqual([])
      await run(tx, note(2))
    })
    await said
    expect(await stored()).toEqual([1, 2])
  })

  test('may set savepoints, and go back to them', async () => {
    await transaction(async (send) => {
      await send(note(1))
      await send('SAVEPOINT mine')
      await send(note(2))
      await send('ROLLBACK TO SAVEPOINT mine')
      await send('RELEASE SAVEPOINT mine')
      await send(note(3))
    })
    expect(await stored()).toEqual([1, 3])
  })
}

function circular(): Error {
  const inner = new Error('inner')
  return (inner.cause = new Error('mine', { cause: inner }))
}

function endless(): Error {
  return Object.defineProperty(new Error('mine'), 'cause', { get: endless })
}

function implicitSpecs(stage: Stage): void {
  const { transaction, stored } = stage

  test('such as DDL is refused', async () => {
    const said = caught(
      transaction(async (send) => {
        await send(note(1))
        await send('create table other (id int)')
      }),
    )
    expect(await said).toBeInstanceOf(LockUsageError)
    expect(await stored()).toEqual([])
  })

  test('inside of a procedure: what comes next is refused, and the call fails', async () => {
    const session = await stage.engine.open()
    await session.run({ sql: 'drop procedure if exists commits', params: [] })
    await session.run({ sql: 'create procedure commits() begin commit; end', params: [] })
    await session.close()
    const said = caught(
      transaction(async (send) => {
        await send(note(1))
        await send('call commits()')
        await send(note(2))
      }),
    )
    expect(await said).toBeInstanceOf(CommitOutcomeUnknownError)
    // the procedure has stored what came before it, and nothing else is
    expect(await stored()).toEqual([1])
    const atTheEnd = caught(
      transaction(async (send) => {
        await send('call commits()')
      }),
    )
    expect(await atTheEnd).toBeInstanceOf(CommitOutcomeUnknownError)
  })

  const procedure = async (text: string): Promise<void> => {
    const session = await stage.engine.open()
    await session.run({ sql: 'drop procedure if exists ends_it', params: [] })
    await session.run({ sql: `create procedure ends_it() begin ${text} end`, params: [] })
    await session.close()
  }

  test.each([
    ['an error', new Error('mine')],
    ['an error that is worth a retry', Object.assign(new Error('lost'), { errno: 1213, sqlState: '40001' })],
    ['an error that is the cause of its cause', circular()],
    ['an error with one more cause for whoever asks', endless()],
  ])(
    'inside of a procedure, and throws %s: is told that it may be stored, and not run again',
    async (_, mine) => {
      await procedure('commit;')
      let runs = 0
      const said = await caught(
        transaction(async (send) => {
          runs += 1
          await send(note(runs))
          await send('call ends_it()')
          throw mine
        }),
      )
      expect(said).toBeInstanceOf(CommitOutcomeUnknownError)
      expect(said).toMatchObject({ cause: mine })
      expect(classifyError(said)).toMatchObject({ retryable: false })
      expect(await stored()).toEqual([1])
    },
  )

  test.each([
    ['rolls back', 'rollback;'],
    [
      'rolls back after an error',
      `declare exit handler for sqlexception begin rollback; end; ${note(9)}; ${note(9)};`,
    ],
  ])('inside of a procedure that %s: nobody says that it is stored', async (_, text) => {
    await procedure(text)
    const said = await caught(
      transaction(async (send) => {
        await send(note(1))
        await send('call ends_it()')
      }),
    )
    expect(said).toBeInstanceOf(CommitOutcomeUnknownError)
    expect(await stored()).toEqual([])
  })

  test('inside of a procedure that then loses against another: is not run again', async () => {
    await procedure(
      "commit; signal sqlstate '40001' set mysql_errno = 1213, message_text = 'Deadlock found';",
    )
    let runs = 0
    const said = await caught(
      transaction(async (send) => {
        runs += 1
        await send(note(runs))
        await send('call ends_it()')
      }),
    )
    expect(said).toBeInstanceOf(CommitOutcomeUnknownError)
    expect(said).toMatchObject({ cause: { errno: 1213 } })
    expect(await stored()).toEqual([1])
  })

  test('a procedure that does not commit, and an error after it: nothing is stored', async () => {
    await procedure('select 1;')
    const mine = new Error('mine')
    const said = caught(
      transaction(async (send) => {
        await send(note(1))
        await send('call ends_it()')
        throw mine
      }),
    )
    expect(await said).toBe(mine)
    expect(await stored()).toEqual([])
  })

  test('may use temporary tables', async () => {
    await transaction(async (send) => {
      await send(note(1))
      await send('create temporary table mine (id int)')
      await send('drop temporary table mine')
    })
    expect(await stored()).toEqual([1])
  })
}

function severalSpecs({ transaction, stored }: Stage): void {
  test('it is refused before anything of the text is done, and the call fails', async () => {
    const said = caught(
      transaction(async (send) => {
        await send(`${note(1)}; COMMIT`)
        await send(note(2))
      }),
    )
    expect(await said).toBeInstanceOf(LockUsageError)
    expect(await stored()).toEqual([])
  })

  test('at its end, the call fails', async () => {
    const said = caught(transaction((send) => send(`${note(1)}; COMMIT`)))
    expect(await said).toBeInstanceOf(LockUsageError)
  })
}
