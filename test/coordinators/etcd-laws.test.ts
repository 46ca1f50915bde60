import { randomUUID } from 'node:crypto'
import { describe, test } from 'vitest'

import { meetCoordinator, type Coordinator } from '../../src/coordinator.ts'
import type { CoordinatorCommands } from '../../src/coordinators/commands.ts'
import { errors } from '../../src/coordinators/etcd/errors.ts'
import { createGateway } from '../../src/coordinators/etcd/gateway.ts'
import { leaseCommands } from '../../src/coordinators/etcd/lease.ts'
import { sessions } from '../../src/coordinators/etcd/sessions.ts'
import { createLeases } from '../../src/entries/etcd.ts'
import { startEtcd } from '../engines/etcd-server.ts'
import { useExtraServer } from '../engines/extra-server.ts'
import { endpointsOf, isOwned, remove } from './etcd-keys.ts'
import { coordinatorLaws, obey, permitLaws, sabotaged, type LawGround } from './laws.ts'

/** etcd counts in whole seconds, and knows no lease of one. */
const briefMs = 2000

interface Defect {
  readonly does: string
  readonly breaks: readonly string[]
  readonly change: (real: CoordinatorCommands) => Partial<CoordinatorCommands>
}

/** Commands that are wrong in one way, and the laws that notice. */
const defects: readonly Defect[] = [
  {
    does: 'gives every request a key of its own',
    breaks: ['L1', 'L4', 'L6', 'L12'],
    change: (real) => ({ acquire: (claim) => real.acquire({ ...claim, name: randomUUID() }) }),
  },
  {
    does: 'asks for more time than it was told to',
    breaks: ['L6', 'L15', 'L16'],
    change: (real) => ({ acquire: (claim) => real.acquire({ ...claim, ttlMs: 600_000 }) }),
  },
]

describe.each([{ members: 1 }, { members: 3 }])('with $members members', ({ members }) => {
  const server = useExtraServer(() => startEtcd(members))

  describe.concurrent('every law holds', () => {
    test.for(coordinatorLaws)('$id: $says', async (law, { skip }) => {
      const endpoints = endpointsOf(server(skip))
      await obey(
        law,
        groundOn(endpoints, () => createLeases({ endpoints })),
      )
    })
  })

  describe('every law of semaphores holds', () => {
    test.for(permitLaws)('$id: $says', async (law, { skip }) => {
      const endpoints = endpointsOf(server(skip))
      await obey(
        law,
        groundOn(endpoints, () => createLeases({ endpoints })),
      )
    })
  })

  describe.concurrent.each(members === 1 ? defects : [])('a client that $does', ({ breaks, change }) => {
    const broken = coordinatorLaws.filter(({ id }) => breaks.includes(id))
    test.for(broken)('breaks $id', async (law, { skip, expect }) => {
      const endpoints = endpointsOf(server(skip))
      const real = leaseCommands('holdfast/leases/')
      const dialect = { name: 'etcd', errors, lease: { ...real, ...change(real) } }
      const gateway = createGateway({ endpoints, auth: undefined, fetch })
      const ground = groundOn(endpoints, () => meetCoordinator(dialect, sessions(gateway)))
      await expect(obey(law, ground)).rejects.toThrow()
    })
  })

  describe.each(members === 1 ? permitLaws : [])('a client that $control.does', (law) => {
    test(`breaks ${law.id}`, async ({ skip, expect }) => {
      const endpoints = endpointsOf(server(skip))
      const dialect = { name: 'etcd', errors, lease: leaseCommands('holdfast/leases/') }
      const gateway = createGateway({ endpoints, auth: undefined, fetch })
      const ground = groundOn(endpoints, () => sabotaged(law.control, dialect, sessions(gateway)))
      await expect(obey(law, ground)).rejects.toThrow()
    })
  })
})

function groundOn(endpoints: readonly string[], join: () => Coordinator): LawGround {
  return {
    briefMs,
    join: async () => ({ coordinator: join(), close: async () => {} }),
    remove: (name) => remove(endpoints, name),
    isOwned: (name) => isOwned(endpoints, name),
    areOwnersRemoved: true,
  }
}
