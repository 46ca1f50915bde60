import { released } from '../../core/session.ts'
import type { LeaseSession, LeaseSessions } from '../../locks/port.ts'
import { EtcdError, explain, grpc } from './errors.ts'
import type { Gateway } from './gateway.ts'
import type { EtcdCommand } from './lease.ts'
import { listenIn } from './listen.ts'
import { perform } from './operations.ts'
import { revocation } from './requests.ts'

/** Every request is on its own: there is no connection to be had or ended, only a list of requests that goes on. */
export function sessions(gateway: Gateway): LeaseSessions {
  return { adapter: 'etcd', open: async () => sessionOn(gateway), listen: listenIn(gateway) }
}

/** One that was destroyed begins no further request, as what takes a lease would be: nobody would know of it. */
function sessionOn(gateway: Gateway): LeaseSession {
  let isDestroyed = false
  const call: Gateway['call'] = async (path, body) => {
    if (isDestroyed && path !== revocation)
      throw new EtcdError(grpc.unavailable, 'nobody waits for the answer of etcd any longer')
    return gateway.call(path, body)
  }
  return {
    run: async (statement) => {
      try {
        return await perform({ ...gateway, call }, (statement as EtcdCommand).command)
      } catch (error) {
        throw explain(error)
      }
    },
    release: () => released,
    destroy: () => {
      isDestroyed = true
      return released
    },
  }
}
