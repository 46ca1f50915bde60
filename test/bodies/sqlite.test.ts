import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { LockUsageError } from '../../src/core/errors.ts'
import { createLocks, queue } from '../../src/entries/better-sqlite3.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'
import { caught, gate } from '../entries/stage.ts'

const claim = { token: 'token', until: 'until' }
const jobs = queue({ table: 'job', id: 'id', orderBy: 'id', claim, done: 'delete' })

describeEngines(specs, { only: ['sqlite'] })

const item = { table: 'item', key: { id: 1 } }
const loseAll = "insert or rollback into item values (1, 'twice')"

function specs(context: EngineContext): void {
  let shared: Database.Database
  beforeEach(() => {
    shared = new Database(context.engine.server.url)
    shared.exec('create table item (id integer primary key, name text not null)')
    shared.exec("insert into item values (1, 'first')")
  })
  afterEach(async () => {
    shared.exec('drop table item')
    shared.close()
    expect(await context.engine.leftovers()).toEqual([])
  })
  const open = (): Database.Database => new Database(context.engine.server.url)
  const stored = (): unknown[] => shared.prepare('select id from item order by id').pluck().all()
  const add = (tx: Database.Database, id: number): unknown =>
    tx.prepare("insert into item values (?, 'added')").run(id)

  test.each([
    ['', (_: Database.Database, work: () => unknown) => work()],
    [
      ', in a function that runs in a savepoint',
      (tx: Database.Database, work: () => unknown) => tx.transaction(work)(),
    ],
  ])("that another handle is busy is the work's own error%s: it is run once", async (_, inside) => {
    let runs = 0
    const impatient = new Database(context.engine.server.url, { timeout: 0 })
    const work = createLocks(open).transaction(async (tx) => {
      runs += 1
      add(tx, 2)
      inside(tx, () => impatient.exec("insert into item values (3, 'refused')"))
    })
    expect(await caught(work)).toMatchObject({ name: 'SqliteError', code: 'SQLITE_BUSY' })
    expect(runs).toBe(1)
    expect(stored()).toEqual([1])
    impatient.close()
  })

  describe.each([
    ['a handle for each', () => createLocks(open)],
    ['one handle for all', () => createLocks(shared)],
  ])('%s', (kind, create) => {
    test('a call that would wait for its own transaction is refused at once, and works after it', async () => {
      shared.exec('create table job (id integer primary key, token text, until integer)')
      const locks = create()
      const others = createLocks(kind === 'a handle for each' ? open : shared)
      const lease = await locks.lease('outside')
      const calls: Readonly<Record<string, () => Promise<unknown>>> = {
        stats: () => locks.stats(jobs),
        claim: () => locks.claim(jobs),
        reclaim: () => locks.reclaim(jobs),
        adviseIndexes: () => locks.adviseIndexes(jobs),
        work: () => locks.work(jobs, async () => {}, { signal: new AbortController().signal }),
        lease: () => locks.lease('inside'),
        'lease, nowait': () => locks.lease('inside', { wait: 'nowait' }),
        acquire: () => locks.acquire('inside'),
        extend: () => lease.extend(),
        attest: () => locks.attest(),
        'a transaction of other locks': () => others.transaction(async () => {}),
        ...(kind === 'one handle for all' && { inspect: () => locks.inspect() }),
      }
      const refused = await locks.transaction(async (tx) => {
        add(tx, 2)
        // what the engine tells nobody of needs no connection
        await locks.announce(jobs)
        const all = Object.entries(calls).map(async ([name, call]) => [name, await caught(call())] as const)
        return Promise.all(all)
      })
      for (const [name, error] of refused) {
        expect(error, name).toBeInstanceOf(LockUsageError)
        expect(error, name).toMatchObject({ message: expect.stringContaining('would wait for itself') })
      }
      expect(stored()).toEqual([1, 2])
      expect(await locks.stats(jobs)).toMatchObject({ ready: 0 })
      await lease.extend()
      await lease.release()
      shared.exec('drop table job')
    })

    test('what a transaction has started is not refused once the transaction is over', async () => {
      const locks = create()
      const over = gate()
      const late = await locks.transaction(async () => {
        const later = over.opened.then(() => locks.lease('later'))
        return { later }
      })
      over.open()
      await (await late.later).release()
    })

    test('once SQLite has rolled back, every further statement is refused and nothing is stored', async () => {
      const locks = create()
      const refused: unknown[] = []
      const work = async (tx: Database.Database): Promise<void> => {
        const prepared = tx.prepare("insert into item values (2, 'prepared before')")
        const nested = tx.transaction(() => prepared.run())
        expect(() => tx.prepare(loseAll).run()).toThrow('UNIQUE')
        const tries = [
          () => add(tx, 3),
          () => tx.exec("insert into item values (4, 'exec')"),
          () => prepared.run(),
          () => nested(),
          () => nested.immediate(),
          () => tx.transaction(() => add(tx, 5))(),
        ]
        for (const attempt of tries) refused.push(await caught((async () => attempt())()))
        refused.push(await caught(locks.rows(tx, item)))
        refused.push(await caught(locks.updateVersioned(tx, { ...item, expected: 1, set: { name: 'x' } })))
      }
      const error = await caught(locks.transaction(work))
      expect(error).toBeInstanceOf(LockUsageError)
      expect(error).toMatchObject({ field: 'transaction', cause: { code: 'SQLITE_CONSTRAINT_PRIMARYKEY' } })
      expect(refused).toHaveLength(8)
      for (const one of refused) expect(one).toBeInstanceOf(LockUsageError)
      expect(stored()).toEqual([1])
    })

    test('the error that ended the transaction is blamed, and not one that was caught before it', async () => {
      const work = async (tx: Database.Database): Promise<void> => {
        expect(() => add(tx, 1)).toThrow('UNIQUE')
        add(tx, 2)
        expect(() => tx.exec('insert or rollback into item values (3, null)')).toThrow('NOT NULL')
      }
      const error = await caught(create().transaction(work))
      expect(error).toMatchObject({ field: 'transaction', cause: { code: 'SQLITE_CONSTRAINT_NOTNULL' } })
      expect(stored()).toEqual([1])
    })

    test('an error that did not end the transaction may be caught', async () => {
      await create().transaction(async (tx) => {
        expect(() => add(tx, 1)).toThrow('UNIQUE')
        add(tx, 2)
      })
      expect(stored()).toEqual([1, 2])
    })

    test.each([
      'COMMIT',
      'END',
      'end /* mine */ transaction',
      'ROLLBACK',
      'BEGIN',
      "insert into item values (9, 'x'); commit; begin",
      "select 1 as [']; commit; begin; select 2 as [']",
      'create table trigger (x); commit; begin',
      'create trigger mine after insert on item begin select 1; end; commit; begin',
      '/* /* */ commit; begin /* */',
    ])('a work that sends %s is refused, and its lock stays', async (sql) => {
      const work = async (tx: Database.Database): Promise<void> => {
        add(tx, 2)
        expect(() => tx.exec(sql)).toThrow(LockUsageError)
        if (!sql.includes(';')) expect(() => tx.prepare(sql).run()).toThrow(LockUsageError)
        expect(tx.inTransaction).toBe(true)
        tx.exec(sql)
      }
      expect(await caught(create().withLock('name', work))).toMatchObject({ field: 'tx' })
      expect(stored()).toEqual([1])
    })

    test("savepoints, triggers and the driver's own transaction are the work's to use", async () => {
      await create().transaction(async (tx) => {
        tx.exec("savepoint own; insert into item values (2, 'x'); rollback to own; release own")
        tx.exec(
          "savepoint own; rollback transaction /* all */ to own; select 'commit; begin', 1 as [;commit]",
        )
        tx.exec(
          "create trigger also after insert on item when new.id = 3 begin insert into item values (4, 'y'); end",
        )
        tx.transaction(() => add(tx, 3)).exclusive()
        expect(() =>
          tx.transaction(() => {
            add(tx, 5)
            throw new Error('undo')
          })(),
        ).toThrow('undo')
        tx.exec('drop trigger also')
      })
      expect(stored()).toEqual([1, 3, 4])
    })

    test('tx and all that was derived from it are refused after the end', async () => {
      const locks = create()
      const kept = await locks.transaction(async (tx) => ({
        tx,
        insert: tx.prepare("insert into item values (?, 'late')"),
        nested: tx.transaction((id: number) => add(tx, id)),
        reading: tx.prepare('select id from item').pluck().iterate(),
      }))
      const late = [
        () => add(kept.tx, 2),
        () => kept.tx.exec("insert into item values (3, 'late')"),
        () => kept.insert.run(4),
        () => kept.insert.database.exec("insert into item values (5, 'late')"),
        () => kept.nested(6),
        () => kept.nested.deferred(7),
        () => kept.reading.next(),
      ]
      for (const attempt of late) expect(attempt).toThrow('the transaction has ended')
      await locks.transaction(async () => {
        for (const attempt of late) expect(attempt).toThrow('the transaction has ended')
      })
      expect(stored()).toEqual([1])
    })

    test('after an abort, what the work still writes is refused and does not become part of the next transaction', async () => {
      const locks = create()
      const [began, goOn] = [gate(), gate()]
      const controller = new AbortController()
      const late: unknown[] = []
      let ended: Promise<void> | undefined
      const body = async (tx: Database.Database): Promise<void> => {
        add(tx, 2)
        began.open()
        await goOn.opened
        late.push(await caught((async () => add(tx, 3))()))
        late.push(await caught(locks.rows(tx, item)))
      }
      const aborted = locks.transaction((tx) => (ended = body(tx)), { signal: controller.signal })
      await began.opened
      controller.abort(new Error('enough'))
      await expect(aborted).rejects.toThrow('enough')
      await locks.transaction(async (tx) => {
        goOn.open()
        await ended
        add(tx, 4)
      })
      expect(stored()).toEqual([1, 4])
      for (const error of late) expect(error).toBeInstanceOf(LockUsageError)
    })

    test('a work that throws in the middle of reading is rolled back, and the next one works', async () => {
      const locks = create()
      const failing = locks.transaction(async (tx) => {
        add(tx, 2)
        const [first] = tx.prepare('select id from item').pluck().iterate() // closes it
        expect(first).toBe(1)
        tx.prepare('select id from item').iterate().next()
        throw new Error('enough')
      })
      await expect(failing).rejects.toThrow('enough')
      await locks.transaction(async (tx) => void add(tx, 3))
      expect(stored()).toEqual([1, 3])
    })

    test('a work that returns in the middle of reading is committed', async () => {
      await create().transaction(async (tx) => {
        add(tx, 2)
        tx.prepare('select id from item').iterate().next()
      })
      expect(stored()).toEqual([1, 2])
    })

    test('a work that closes its handle is refused, and its transaction goes on', async () => {
      await create().transaction(async (tx) => {
        add(tx, 2)
        expect(() => tx.close()).toThrow(LockUsageError)
        expect(() => tx.prepare('select 1').database.close()).toThrow(LockUsageError)
        add(tx, 3)
      })
      expect(stored()).toEqual([1, 2, 3])
    })

    test('tx is the handle to whoever looks at it', async () => {
      await create().transaction(async (tx) => {
        expect(tx).toBeInstanceOf(Database)
        expect(tx.open && tx.inTransaction).toBe(true)
        expect(tx.exec('select 1')).toBe(tx)
        const statement = tx.prepare('select id from item')
        expect(statement.database).toBe(tx)
        expect(statement.pluck()).toBe(statement)
        expect([statement.reader, statement.source]).toEqual([true, 'select id from item'])
        expect([...statement.iterate()]).toEqual([1])
      })
    })
  })

  test('a COMMIT on the shared handle, past tx, is noticed', async () => {
    const work = async (tx: Database.Database): Promise<void> => {
      add(tx, 2)
      shared.exec('COMMIT')
      expect(() => add(tx, 3)).toThrow('had ended before its COMMIT')
    }
    const error = await caught(createLocks(shared).withLock('name', work))
    expect(error).toMatchObject({ field: 'transaction' })
    expect(String(error)).toContain('may be stored')
    expect(stored()).toEqual([1, 2])
  })

  test('an iterator of the application on the shared handle does not keep the next one waiting for ever', async () => {
    const locks = createLocks(shared)
    let reading: IterableIterator<unknown> | undefined
    const controller = new AbortController()
    const aborted = locks.transaction(
      async () => {
        reading = shared.prepare('select id from item').iterate()
        controller.abort(new Error('enough'))
        await new Promise(() => {})
      },
      { signal: controller.signal },
    )
    await expect(aborted).rejects.toThrow('enough')
    await expect(locks.transaction(async () => {})).rejects.toMatchObject({ field: 'database' })
    reading?.return?.()
    shared.exec('rollback')
    await locks.transaction(async (tx) => void add(tx, 2))
    expect(stored()).toEqual([1, 2])
  })
}
