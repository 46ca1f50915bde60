import { MongoClient, type ClientSession, type Db } from 'mongodb'

import { createLocks, type MongodbTransaction } from '../../../src/entries/mongodb.ts'
import { embedded, hideTx, poolSize, type Ground, type Way } from '../ground.ts'

type Tx = MongodbTransaction<ClientSession, Db>

async function open(url: string): Promise<Ground<Tx>> {
  const client = await new MongoClient(url, { maxPoolSize: poolSize }).connect()
  const locks = createLocks(client)
  return {
    ...embedded,
    words: ['commit', 'rollback'],
    canNumber: false,
    locks,
    rows: (tx, { row, wait, ...lock }) =>
      locks.rows(
        tx,
        { table: 'spot', key: { _id: row } },
        { ...lock, wait: wait === 'skip' ? 'nowait' : wait },
      ),
    send: ({ session, db }, statement) => {
      if (!('command' in statement)) throw new Error('MongoDB is sent commands')
      return db.command({ ...statement.command }, { session }).then(checkWrite)
    },
    say: ({ session }, word) =>
      word === 'commit' ? session.commitTransaction() : session.abortTransaction(),
    settings: async () => [],
    close: () => client.close(),
  }
}

/** A write that fails is told of inside an answer that says ok, to those who send commands. */
function checkWrite(answer: Record<string, unknown>): unknown {
  const [failed] = Array.isArray(answer.writeErrors) ? (answer.writeErrors as { errmsg: string }[]) : []
  if (failed !== undefined) throw new Error(failed.errmsg)
  return answer
}

export const onMongodb: readonly Way[] = [hideTx({ title: 'mongodb', engines: ['mongodb'], open })]
