import type { ColumnType, Generated } from 'kysely'
import { expect, expectTypeOf, test } from 'vitest'

import { kyselyQueue, type KyselyQueueDefinition } from '../../src/entries/kysely.ts'
import type { Claims } from '../../src/locks/queue/claims.ts'
import type { Enqueued } from '../../src/locks/queue/enqueue.ts'
import type { NewJob } from '../../src/locks/queue/new-jobs.ts'
import type { Job } from '../../src/locks/queue/job.ts'
import type { Queue, QueueDefinition } from '../../src/locks/queue/queue-definition.ts'
import { queue } from '../../src/locks/queue/queue.ts'

interface MailRow {
  readonly id: number
  readonly state: 'ready' | 'sent'
  readonly sent_by: string | null
  readonly token: string | null
  readonly until: number | null
}

interface Database {
  readonly 'app.mail': {
    readonly id: Generated<number>
    readonly state: 'ready' | 'sent'
    readonly created_at: ColumnType<Date, string | undefined, never>
    readonly token: string | null
    readonly until: ColumnType<string, number, number> | null
  }
  readonly person: { readonly name: string }
}

const mail: QueueDefinition<MailRow> = {
  table: 'mail',
  id: 'id',
  orderBy: 'id',
  where: { state: 'ready', sent_by: null },
  claim: { token: 'token', until: 'until' },
  done: { set: { state: 'sent' } },
}

/** Never called: what is tested is what they give. */
const claimFrom = <R extends object>(claims: Claims<unknown>, from: Queue<R>): Promise<readonly Job<R>[]> =>
  claims.claim(from)

test("a job's row has the type of the queue's rows", () => {
  const typed = queue<MailRow>(mail)
  expectTypeOf(typed).toEqualTypeOf<Queue<MailRow>>()
  expectTypeOf<Awaited<ReturnType<typeof claimFrom<MailRow>>>[number]['row']>().toEqualTypeOf<MailRow>()
  expectTypeOf(queue({ ...mail, where: { anything: 1 }, done: 'delete' })).toEqualTypeOf<Queue>()
})

test('columns and values that the table does not have do not compile', () => {
  // @ts-expect-error there is no such column
  const order: QueueDefinition<MailRow> = { ...mail, orderBy: 'importance' }
  // @ts-expect-error the column never has this value
  const where: QueueDefinition<MailRow> = { ...mail, where: { state: 'redy' } }
  // @ts-expect-error the column is never null
  const none: QueueDefinition<MailRow> = { ...mail, where: { state: null } }
  // @ts-expect-error the column is a number
  const set: QueueDefinition<MailRow> = { ...mail, done: { set: { id: 'x' } } }
  expect([order, where, none, set]).toHaveLength(4)
})

test('a queue of a Kysely schema knows its tables, its columns and the rows that are selected', () => {
  const define = kyselyQueue<Database>()
  const mails = define({
    table: 'app.mail',
    id: 'id',
    orderBy: [{ column: 'created_at', direction: 'desc' }],
    where: { state: ['ready'] },
    claim: { token: 'token', until: 'until' },
    done: { set: { state: 'sent' } },
  })
  expect(mails.shape.table).toEqual(['app', 'mail'])
  type MailOf<Q> = Q extends Queue<infer R> ? R : never
  expectTypeOf<MailOf<typeof mails>>().toEqualTypeOf<{
    readonly id: number
    readonly state: 'ready' | 'sent'
    readonly created_at: Date
    readonly token: string | null
    readonly until: string | null
  }>()
  expectTypeOf<Parameters<typeof define>[0]['table']>().toEqualTypeOf<'app.mail' | 'person'>()
  type People = KyselyQueueDefinition<Database, 'person'>
  expectTypeOf<People['id']>().toEqualTypeOf<'name'>()
  expectTypeOf<People['claim']['token']>().toEqualTypeOf<'name'>()
})

test('a transaction in the place of options does not compile, nor does one under another name', () => {
  interface Client {
    readonly query: (text: string) => Promise<unknown>
  }
  /** Never called: what is tested is what compiles. */
  const calls = async (claims: Claims<Client>, job: Job, tx: Client): Promise<void> => {
    const mails = queue({ ...mail, done: 'delete' })
    await claims.complete(mails, job, { tx })
    await claims.release(mails, job, { tx, delayMs: 1 })
    await job.complete({ tx })
    // @ts-expect-error it is { tx }
    await claims.complete(mails, job, tx)
    // @ts-expect-error it is { tx }
    await claims.announce(mails, tx)
    // @ts-expect-error it is { tx }
    await claims.release(mails, job, tx)
    // @ts-expect-error it is { tx }
    await job.complete(tx)
    // @ts-expect-error it is tx
    await claims.complete(mails, job, { trx: tx })
    // @ts-expect-error no transaction of these locks
    await claims.complete(mails, job, { tx: 5 })
  }
  expect(calls).toBeInstanceOf(Function)
})

test('a new job has columns of the queue, and what is no plain value may be text', () => {
  interface Letter extends MailRow {
    readonly body: { readonly text: string }
  }
  const job: NewJob<Letter> = { sent_by: 'me', body: '{"text":"hello"}' }
  // @ts-expect-error there is no such column
  const column: NewJob<Letter> = { importance: 1 }
  // @ts-expect-error the column never has this value
  const value: NewJob<Letter> = { state: 'redy' }
  const calls = (claims: Claims<string>): Promise<Enqueued> =>
    // @ts-expect-error the key is in the job, not in the options
    claims.enqueue(queue<MailRow>(mail), { sent_by: 'me' }, { unique: 'sent_by' })
  expect([job, column, value, calls]).toHaveLength(4)
})
