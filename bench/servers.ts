import { loadEngine } from '../test/engines/engine-list.ts'
import type { Engine, Server, StartedServer } from '../test/engines/engine.ts'
import { describeRefusals, startEngine } from '../test/engines/sources.ts'

/** Real servers, from where the tests have them. Each is started when it is asked for first. */
export interface Servers {
  /** A database of its own for each scenario; the same one each time that it asks. */
  readonly server: (scenario: string, engine: string) => Promise<Server | undefined>
  /** Drops the databases of a scenario that has ended. */
  readonly end: (scenario: string) => Promise<void>
  /** What runs by now, by engine. */
  readonly versions: () => Readonly<Record<string, string>>
  readonly stop: () => Promise<void>
}

export function createServers(say: (line: string) => void): Servers {
  const starts = new Map<string, Promise<StartedServer | undefined>>()
  const versions: Record<string, string> = {}
  const engines = new Map<string, Map<string, Promise<Engine | undefined>>>()
  const start = async (name: string): Promise<StartedServer | undefined> => {
    say(`starting ${name}`)
    const { started, refusals } = await startEngine(await loadEngine(name))
    if (started === undefined) say(`${name} is not here: ${describeRefusals(refusals)}`)
    else versions[name] = started.server.version
    return started
  }
  const connect = async (name: string): Promise<Engine | undefined> => {
    const starting = starts.get(name) ?? start(name)
    starts.set(name, starting)
    const started = await starting
    return started && (await loadEngine(name)).connect(started.server)
  }
  const end = async (scenario: string): Promise<void> => {
    const own = engines.get(scenario) ?? new Map<string, Promise<Engine | undefined>>()
    engines.delete(scenario)
    for (const engine of own.values()) await (await engine.catch(() => undefined))?.close()
  }
  return {
    server: async (scenario, name) => {
      const own = engines.get(scenario) ?? new Map<string, Promise<Engine | undefined>>()
      engines.set(scenario, own)
      const engine = own.get(name) ?? connect(name)
      own.set(name, engine)
      return (await engine)?.server
    },
    end,
    versions: () => ({ ...versions }),
    stop: async () => {
      for (const scenario of engines.keys()) await end(scenario).catch(() => {})
      const all = await Promise.allSettled(starts.values())
      await Promise.all(all.map(async (one) => (one.status === 'fulfilled' ? one.value?.stop() : undefined)))
    },
  }
}
