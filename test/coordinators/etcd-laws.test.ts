import { describe, test } from 'vitest'

import { createLeases } from '../../src/entries/etcd.ts'
import { startEtcd } from '../engines/etcd-server.ts'
import { useExtraServer } from '../engines/extra-server.ts'
import { endpointsOf, remove } from './etcd-keys.ts'
import { coordinatorLaws, obey } from './laws.ts'

/** They want a lease of less than a second to have no more than that left: etcd counts in whole seconds. */
const finer = ['L6', 'L15', 'L16']

describe.each([{ members: 1 }, { members: 3 }])('with $members members', ({ members }) => {
  const server = useExtraServer(() => startEtcd(members))

  describe.concurrent('every law holds', () => {
    const laws = coordinatorLaws.filter(({ id }) => !finer.includes(id))
    test.for(laws)('$id: $says', async (law, { skip }) => {
      const endpoints = endpointsOf(server(skip))
      await obey(law, {
        join: async () => ({ coordinator: createLeases({ endpoints }), close: async () => {} }),
        remove: (name) => remove(endpoints, name),
      })
    })
  })
})
