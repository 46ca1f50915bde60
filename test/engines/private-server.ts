import type { Origin, Server, StartedServer, Unavailable } from './engine.ts'
import { loadEngine } from './engine-list.ts'
import { describeRefusals, startEngine } from './sources.ts'

/** A server that one test has to itself, to freeze, restart or end it. */
export interface PrivateServer {
  /** Where it is now: after a restart the address may be another one. */
  readonly server: Server
  /** Stops it where it stands: it answers nothing, and connections stay open. */
  readonly freeze: () => Promise<void>
  readonly thaw: () => Promise<void>
  /** Ends it in order and starts it again on the same data. Every connection breaks. */
  readonly restart: () => Promise<void>
  readonly stop: () => Promise<void>
}

/**
 * Starts one more server of this engine; gives the reason where an engine cannot be had so.
 *
 * `like` is where the shared server came from: the private one comes from there too, unless it is somebody else's.
 */
export async function startAnother(name: string, like: Origin = 'url'): Promise<PrivateServer | Unavailable> {
  const kind = await loadEngine(name)
  const isWanted = (origin: Origin): boolean => (like === 'url' ? origin !== 'url' : origin === like)
  const { started, refusals } = await startEngine(kind, ({ origin }) => isWanted(origin))
  if (started === undefined) return { unavailable: describeRefusals(refusals) }
  const { freeze, thaw, restart } = started
  if (freeze === undefined || thaw === undefined || restart === undefined) {
    await started.stop()
    return { unavailable: `${name} has no server of its own to freeze or restart` }
  }
  return steer(started)
}

function steer(first: StartedServer): PrivateServer {
  let current = first
  return {
    get server() {
      return current.server
    },
    freeze: async () => current.freeze?.(),
    thaw: async () => current.thaw?.(),
    restart: async () => {
      current = (await current.restart?.()) ?? current
    },
    stop: () => current.stop(),
  }
}
