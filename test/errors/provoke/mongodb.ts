import { MongoClient } from 'mongodb'

import type { DocumentCommand } from '../../../src/core/statement.ts'
import { until } from '../../engines/until.ts'
import type { Provocations, Scenario } from '../scenario.ts'
import { blocked, errorOf, outcomeOf, type Stage } from '../stage.ts'
import { towardsNobody } from './dead-address.ts'
import { client, command, errorWhileFailing, increment, transaction } from './mongodb-stage.ts'

/** An answer that the server gives by its own means for tests, with the labels that it puts on such an answer. */
function answered(code: number, codeName: string): Scenario {
  return {
    name: `the server answers ${codeName}, told to by its fail point`,
    expect: { kind: 'connection-lost', transaction: 'unknown', key: String(code) },
    run: async (stage) => {
      const raw = await client(stage)
      const failing = { raw, times: 1, failCommands: ['ping'], errorCode: code }
      return { error: await errorWhileFailing(stage, failing, () => raw.db().command({ ping: 1 })) }
    },
  }
}

function unconnected(stage: Stage, url: string): Promise<unknown> {
  const raw = new MongoClient(url, { serverSelectionTimeoutMS: 100 })
  stage.afterwards(() => raw.close())
  return errorOf(raw.connect())
}

const scenarios: readonly Scenario[] = [
  {
    name: 'two transactions change one document',
    expect: { kind: 'write-conflict', transaction: 'rolled-back', key: '112' },
    run: async (stage) => {
      const [session, other] = [await stage.victim(), await stage.open()]
      await other.begin()
      await other.run(increment(1))
      return { session, error: await errorOf(session.run(increment(1))) }
    },
  },
  {
    name: 'a transaction whose session was killed',
    expect: { kind: 'serialization', transaction: 'rolled-back', key: '251' },
    run: async (stage) => {
      const session = await stage.victim()
      await stage.engine.kill(session)
      return { session, error: await errorOf(session.run(increment(1))) }
    },
  },
  {
    name: 'the commit of a transaction whose session was killed',
    expect: { kind: 'serialization', transaction: 'rolled-back', key: '251' },
    run: async (stage) => {
      const session = await stage.victim()
      await stage.engine.kill(session)
      return { session, error: await errorOf(session.commit()) }
    },
  },
  {
    name: 'a transaction that meets a lock on the collection',
    expect: { kind: 'busy', transaction: 'rolled-back', key: '24 / TransientTransactionError' },
    run: async (stage) => {
      const [holder, changer, session] = [await stage.open(), await stage.open(), await stage.victim()]
      await holder.begin()
      await holder.run(increment(1))
      const change = await blocked(stage, changer, command({ collMod: 'items', validationLevel: 'moderate' }))
      stage.afterwards(() => change.settled)
      return { session, error: await errorOf(session.run(increment(2))) }
    },
  },
  {
    name: 'a second operation that is the first of its transaction',
    expect: { kind: 'serialization', transaction: 'open', key: '117' },
    run: async (stage) => {
      const session = await stage.victim()
      return { session, error: await errorOf(session.run(increment(1, { startTransaction: true }))) }
    },
  },
  {
    name: 'a key twice',
    expect: { kind: 'unique-violation', transaction: 'rolled-back', key: '11000' },
    run: async (stage) => {
      const session = await stage.victim()
      const insert = (_id: number): DocumentCommand =>
        command({ findAndModify: 'named', query: { _id }, update: { $set: { name: 'a' } }, upsert: true })
      await session.run(insert(1))
      return { session, error: await errorOf(session.run(insert(2))) }
    },
  },
  {
    name: 'a key twice, by the driver',
    expect: { kind: 'unique-violation', transaction: 'rolled-back', key: '11000' },
    run: async (stage) => {
      const raw = await client(stage)
      return { error: await errorOf(raw.db().collection<{ _id: number }>('items').insertOne({ _id: 1 })) }
    },
  },
  {
    name: 'maxTimeMS while waiting for a transaction',
    expect: { kind: 'cancelled', transaction: 'rolled-back', key: '50' },
    run: async (stage) => {
      const [holder, session] = [await stage.open(), await stage.open()]
      await holder.begin()
      await holder.run(increment(1))
      return { error: await errorOf(session.run(increment(1, { maxTimeMS: 100 }))) }
    },
  },
  {
    name: 'maxTimeMS in a transaction',
    expect: { kind: 'cancelled', transaction: 'rolled-back', key: '50' },
    run: async (stage) => {
      const session = await stage.victim()
      const slow = command({ find: 'items', filter: { $where: 'sleep(1000) || true' }, maxTimeMS: 50 })
      return { session, error: await errorOf(session.run(slow)) }
    },
  },
  {
    name: 'an operation that an administrator ends',
    expect: { kind: 'cancelled', transaction: 'rolled-back', key: '11601' },
    run: async (stage) => {
      const session = await stage.victim()
      const admin = (await client(stage)).db('admin')
      const running = outcomeOf(
        session.run(command({ find: 'items', filter: { $where: 'sleep(20000) || true' } })),
      )
      let op: unknown
      await until(async () => {
        const { inprog } = await admin.command({
          currentOp: 1,
          active: true,
          'command.filter.$where': { $exists: true },
        })
        op = inprog.find((found: { lsid?: { id?: unknown } }) => String(found.lsid?.id) === session.id)?.opid
        return op !== undefined
      }, 'the operation on the server')
      await admin.command({ killOp: 1, op })
      return { session, error: await running.error }
    },
  },
  {
    name: 'an error that is not about locks',
    expect: { kind: 'other', transaction: 'rolled-back', key: '2' },
    run: async (stage) => {
      const session = await stage.victim()
      return {
        session,
        error: await errorOf(session.run(command({ find: 'items', filter: { $nothing: 1 } }))),
      }
    },
  },
  {
    name: 'a commit whose answer is lost twice',
    expect: { kind: 'commit-unknown', transaction: 'unknown', key: 'UnknownTransactionCommitResult' },
    run: async (stage) => {
      const raw = await client(stage)
      const session = await transaction(stage, raw)
      const failing = { raw, times: 2, failCommands: ['commitTransaction'], closeConnection: true }
      return { error: await errorWhileFailing(stage, failing, () => session.commitTransaction()) }
    },
  },
  {
    name: 'a connection that breaks in a transaction',
    expect: { kind: 'connection-lost', transaction: 'unknown', key: 'MongoNetworkError' },
    run: async (stage) => {
      const raw = await client(stage)
      const session = await transaction(stage, raw)
      const items = raw.db().collection<{ _id: number }>('items')
      const update = (): Promise<unknown> => items.updateOne({ _id: 1 }, { $inc: { n: 1 } }, { session })
      const failing = { raw, times: 1, failCommands: ['update'], closeConnection: true }
      return { error: await errorWhileFailing(stage, failing, update) }
    },
  },
  {
    name: 'a server that does not answer in time',
    expect: { kind: 'connection-lost', transaction: 'unknown', key: 'MongoNetworkTimeoutError' },
    run: async (stage) => {
      const raw = await client(stage, { socketTimeoutMS: 300 })
      const failing = { raw, times: 1, failCommands: ['ping'], blockConnection: true, blockTimeMS: 2000 }
      return { error: await errorWhileFailing(stage, failing, () => raw.db().command({ ping: 1 })) }
    },
  },
  {
    name: 'a server that is not there',
    expect: { kind: 'connection-lost', transaction: 'unknown', key: 'MongoNetworkError' },
    run: async (stage) => ({ error: await unconnected(stage, await towardsNobody('mongodb://nobody')) }),
  },
  {
    name: 'a server that belongs to another replica set',
    expect: { kind: 'connection-lost', transaction: 'unknown', key: 'MongoServerSelectionError' },
    run: async (stage) => {
      const [address] = stage.engine.server.url.split('?', 1)
      return { error: await unconnected(stage, `${address}?replicaSet=nobodys`) }
    },
  },
  {
    name: 'a client that was closed',
    expect: { kind: 'connection-lost', transaction: 'unknown', key: 'MongoNotConnectedError' },
    run: async (stage) => {
      const raw = await client(stage)
      await raw.close()
      return { error: await errorOf(raw.db().command({ ping: 1 })) }
    },
  },
  {
    name: 'a transaction begun twice',
    expect: { kind: 'other', transaction: 'open', key: 'MongoTransactionError' },
    run: async (stage) => {
      const session = await stage.victim()
      return { session, error: await errorOf(session.begin()) }
    },
  },
  answered(6, 'HostUnreachable'),
  answered(7, 'HostNotFound'),
  answered(89, 'NetworkTimeout'),
  answered(91, 'ShutdownInProgress'),
  answered(189, 'PrimarySteppedDown'),
  answered(9001, 'SocketException'),
  answered(10107, 'NotWritablePrimary'),
  answered(11600, 'InterruptedAtShutdown'),
  answered(11602, 'InterruptedDueToReplStateChange'),
  answered(13435, 'NotPrimaryNoSecondaryOk'),
  answered(13436, 'NotPrimaryOrSecondary'),
]

const race = 'takes other operations on the same pool at the right instant'

const mongodb: Provocations = {
  setUp: [
    command({ create: 'items' }),
    command({ create: 'marks' }),
    command({ createIndexes: 'named', indexes: [{ key: { name: 1 }, name: 'once', unique: true }] }),
  ],
  reset: [
    command({ delete: 'marks', deletes: [{ q: {}, limit: 0 }] }),
    command({ delete: 'items', deletes: [{ q: {}, limit: 0 }] }),
    command({
      insert: 'items',
      documents: [
        { _id: 1, n: 0 },
        { _id: 2, n: 0 },
      ],
    }),
  ],
  mark: (name) => command({ insert: 'marks', documents: [{ name }] }),
  marks: command({ find: 'marks' }),
  isRolledBackByHand: true,
  scenarios,
  notProvoked: {
    '24': 'outside of a transaction a lock is waited for without an end',
    '46': 'only for commands that lock the whole server, such as fsyncLock',
    '246': 'takes a cluster that is short of memory or of shards',
    '262': 'a time limit inside the server, between its members',
    TransientTransactionError: 'for codes of other servers that carry the label',
    MongoOperationTimeoutError: 'mongodb 7.8 ignores `timeoutMS`; older drivers obey it',
    MongoInvalidArgumentError: 'an error of the program that the types rule out',
    MongoPoolClearedError: race,
    PoolClearedOnNetworkError: race,
    MongoPoolClosedError: race,
    MongoServerClosedError: race,
    MongoTopologyClosedError: race,
    MongoClientClosedError: race,
  },
}

export default mongodb
