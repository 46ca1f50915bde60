import { released } from '../../core/session.ts'
import type { LeaseSession, LeaseSessions } from '../../locks/port.ts'
import { explain } from './errors.ts'
import type { Gateway } from './gateway.ts'
import type { EtcdCommand } from './lease.ts'
import { listenIn } from './listen.ts'
import { perform } from './operations.ts'

/** Every request is on its own: there is no connection to be had or ended. */
export function sessions(gateway: Gateway): LeaseSessions {
  const session: LeaseSession = {
    run: async (statement) => {
      try {
        return [await perform(gateway, (statement as EtcdCommand).command)]
      } catch (error) {
        throw explain(error)
      }
    },
    release: () => released,
    destroy: () => released,
  }
  return { adapter: 'etcd', open: async () => session, listen: listenIn(gateway) }
}
