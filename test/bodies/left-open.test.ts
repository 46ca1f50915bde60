import { once } from 'node:events'
import type { Readable } from 'node:stream'

import type { PoolConnection as MariadbConnection } from 'mariadb'
import type { PoolConnection } from 'mysql2/promise'
import type { PoolClient } from 'pg'
import { describe, expect, test } from 'vitest'

import { LockUsageError } from '../../src/core/errors.ts'
import { createLocks } from '../../src/entries/pg.ts'
import type { SharedLocks } from '../../src/locks.ts'
import { pgPool } from '../adapters/subject.ts'
import { caught } from '../entries/stage.ts'
import { Cursor } from './cursor.ts'
import { describeBodies, note, onMariadb, onMysql2, onPg, type Stage, type Subject } from './stage.ts'

const onPipeline: Subject = {
  ...onPg,
  title: 'pg, whose beginning travels with the first statement',
  connect: (url) => {
    const pool = pgPool(url)
    const locks = createLocks(pool, { pipeline: true }) as unknown as SharedLocks<unknown>
    return { locks, run: (tx, text) => (tx as PoolClient).query(text), close: () => pool.end() }
  },
}

const numbers = 'select id from counter order by id'

const opened = (tx: unknown): Cursor => {
  const cursor = new Cursor(numbers)
  ;(tx as PoolClient).query(cursor as never)
  return cursor
}

// Where one of these calls never returns, its test ends with the time that a test has.
describe('a cursor that the work has left open', () => {
  describeBodies(cursorSpecs, { only: [onPg, onPipeline] })
})

describe('a stream that the work has left open', () => {
  describeBodies(streamSpecs, { only: [onMysql2, onMariadb] })
})

const many = 'select repeat(a.id, 5000) as text from counter a, counter b'

interface Streaming {
  query(text: string): { stream(): Readable }
}

function streamOf(tx: PoolConnection | MariadbConnection): Readable {
  return 'queryStream' in tx
    ? tx.queryStream(many)
    : (tx.connection as unknown as Streaming).query(many).stream()
}

async function streamed(tx: unknown): Promise<Readable> {
  const stream = streamOf(tx as PoolConnection | MariadbConnection)
  await once(stream, 'readable')
  return stream
}

function streamSpecs({ transaction, stored }: Stage): void {
  test.each(['nothing', 'a statement'])(
    'is closed, and the call rejects: %s is behind it',
    async (behind) => {
      const call = transaction(async (send, tx) => {
        await send(note(1))
        await streamed(tx)
        if (behind === 'a statement') void caught(send(note(2)))
      })
      expect(await caught(call)).toBeInstanceOf(LockUsageError)
      expect(await stored()).toEqual([])
      await transaction((send) => send(note(3)))
      expect(await stored()).toEqual([3])
    },
  )

  test('is closed, also when its first row comes after the work has returned', async () => {
    const call = transaction(async (send, tx) => {
      await send(note(1))
      streamOf(tx as PoolConnection | MariadbConnection).on('error', () => {})
    })
    expect(await caught(call)).toBeInstanceOf(LockUsageError)
    expect(await stored()).toEqual([])
  })

  test('goes on while it is read, and so does what follows', async () => {
    let rows = 0
    await transaction(async (send, tx) => {
      const stream = await streamed(tx)
      const reading = async (): Promise<void> => {
        for await (const _ of stream) rows += 1
        await send(note(1))
      }
      void reading()
    })
    expect(rows).toBe(900)
    expect(await stored()).toEqual([1])
  })
}

function cursorSpecs(stage: Stage): void {
  const { transaction, stored } = stage

  test('does not keep a statement behind it from being stored', async () => {
    await transaction(async (send, tx) => {
      await opened(tx).read(1)
      void send(note(1))
    })
    expect(await stored()).toEqual([1])
  })

  test('does not keep a call of locks behind it from its end', async () => {
    await transaction(async (send, tx) => {
      await opened(tx).read(1)
      // the first attempt may only have made the table of marks
      void caught(stage.way.locks.once(tx, stage.name, () => send(note(1))))
    })
    expect(await stored()).toEqual([1])
  })

  test('is closed also when the client has not begun it yet, and when nobody has read it', async () => {
    await transaction(async (send, tx) => {
      void send(note(1))
      opened(tx)
      void send(note(2))
      opened(tx)
      void send(note(3))
    })
    expect(await stored()).toEqual([1, 2, 3])
  })

  test('does not say that it has no more rows', async () => {
    let late: unknown
    await transaction(async (send, tx) => {
      const cursor = opened(tx)
      await cursor.read(1)
      void send(note(1)).then(async () => {
        late = await caught(cursor.read(1))
        await send(note(2))
      })
    })
    expect(late).toBeInstanceOf(LockUsageError)
    expect(await stored()).toEqual([1, 2])
  })

  test('goes on while it is read, and so does what is behind it', async () => {
    let rows = 0
    await transaction(async (send, tx) => {
      const cursor = opened(tx)
      const reading = async (): Promise<void> => {
        for (let read = await cursor.read(7); read.length > 0; read = await cursor.read(7))
          rows += read.length
        await send(note(2))
      }
      await cursor.read(1)
      void reading()
      void send(note(1))
    })
    expect(rows).toBe(29)
    expect(await stored()).toEqual([1, 2])
  })
}
