import { MongoClient } from 'mongodb'
import { expect, test } from 'vitest'

import * as mongodbAdapter from '../../src/adapters/mongodb/sessions.ts'
import { joinLocks } from '../../src/locks.ts'
import { registry } from '../../src/registry.ts'
import type { StartedServer } from '../engines/engine.ts'
import { useExtraServer } from '../engines/extra-server.ts'
import { connectMongodb } from '../engines/mongodb-client.ts'
import { installedMongod, startLoneMongod } from '../engines/mongodb-server.ts'
import { mongodUnderWine } from '../engines/mongodb-wine.ts'
import { describeEngines, startPrivate, startsServers } from '../engines/use.ts'
import { findingIn, idsIn, observedIn, type Attestation } from './stage.ts'

async function attestAt(url: string): Promise<Attestation> {
  const client = await new MongoClient(url).connect()
  try {
    return await joinLocks(mongodbAdapter.sessions(client), [registry.mongodb]).attest()
  } finally {
    await client.close()
  }
}

async function command(url: string, document: Record<string, unknown>): Promise<Record<string, unknown>> {
  const client = await connectMongodb(url)
  return client
    .db('admin')
    .command(document)
    .finally(() => client.close())
}

/** A server that is part of no replica set. */
async function startAlone(): Promise<StartedServer> {
  const installed = await installedMongod()
  const mongod = 'unavailable' in installed ? await mongodUnderWine() : installed
  if ('unavailable' in mongod) throw new Error(mongod.unavailable)
  return startLoneMongod(mongod, mongod === installed ? 'installed' : 'download')
}

describeEngines(specs, { only: ['mongodb'] })

function specs(): void {
  const alone = useExtraServer(startAlone)

  test('a server that stands alone is found, leases work, and nothing is thrown', async ({ skip }) => {
    const attestation = await attestAt(alone(skip).server.url)
    expect(attestation.findings[0]).toMatchObject({ id: 'no-replica-set', severity: 'error' })
    expect(observedIn(attestation)).toMatchObject({
      lease: 'holds',
      'row-exclusive': 'refused',
      advisory: 'refused',
      'advisory-session': 'holds',
    })
  })

  test(
    'a weak default write concern and a short life of transactions are found, and no others',
    startsServers,
    async ({ skip }) => {
      const server = await startPrivate('mongodb')
      if ('unavailable' in server) return skip(server.unavailable)
      const { url } = server.server
      const set = (w: number | 'majority', seconds: number): Promise<unknown> =>
        Promise.all([
          command(url, {
            setDefaultRWConcern: 1,
            defaultWriteConcern: { w, wtimeout: 0 },
            writeConcern: { w: 'majority' },
          }),
          command(url, { setParameter: 1, transactionLifetimeLimitSeconds: seconds }),
        ])
      try {
        await set(1, 60)
        expect(idsIn(await attestAt(url))).toEqual(['write-concern-weak'])
        await set('majority', 20)
        const short = await attestAt(url)
        expect(idsIn(short)).toEqual(['transaction-lifetime-short'])
        expect(findingIn(short, 'transaction-lifetime-short')?.title).toContain('20 s')
        await set('majority', 60)
        expect(idsIn(await attestAt(url))).toEqual([])
      } finally {
        await server.stop()
      }
    },
  )
}
