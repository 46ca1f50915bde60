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

/** They want a lease of less than a second to have no more than that left: etcd counts in whole seconds. */
const finer = ['L6', 'L8', 'L15', 'L16']

/** Where a law wants a lease to end soon, it ends as soon as here, and is granted on a busy machine too. */
function inWholeSeconds(coordinator: Coordinator): Coordinator {
  const lease: Coordinator['lease'] = (key, { ttlMs = 30_000, ...options } = {}) =>
    coordinator.lease(key, { ...options, ttlMs: ttlMs < 500 ? 2000 : ttlMs })
  const semaphore: Coordinator['semaphore'] = (key, { ttlMs = 30_000, ...options }) =>
    coordinator.semaphore(key, { ...options, ttlMs: ttlMs < 500 ? 2000 : ttlMs })
  return { ...coordinator, lease, semaphore }
}

interface Defect {
  readonly does: string
  readonly breaks: readonly string[]
  readonly change: (real: CoordinatorCommands) => Partial<CoordinatorCommands>
}

/** Commands that are wrong in one way, and the laws that notice. */
const defects: readonly Defect[] = [
  {
    does: 'gives every request a key of its own',
    breaks: ['L1', 'L4', 'L12'],
    change: (real) => ({ acquire: (claim) => real.acquire({ ...claim, name: randomUUID() }) }),
  },
]

describe.each([{ members: 1 }, { members: 3 }])('with $members members', ({ members }) => {
  const server = useExtraServer(() => startEtcd(members))

  describe.concurrent('every law holds', () => {
    const laws = coordinatorLaws.filter(({ id }) => !finer.includes(id))
    test.for(laws)('$id: $says', async (law, { skip }) => {
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
    join: async () => ({ coordinator: inWholeSeconds(join()), close: async () => {} }),
    remove: (name) => remove(endpoints, name),
    isOwned: (name) => isOwned(endpoints, name),
  }
}
