import { afterAll, beforeAll, describe, inject, test } from 'vitest'

import type { Engine, EngineKind, Server, Unavailable } from './engine.ts'
import { loadEngine } from './engine-list.ts'
import { startAnother, type PrivateServer } from './private-server.ts'

export type { PrivateServer }
export { until } from './until.ts'

/** What a spec is given for one engine. `engine` and `kind` are there inside tests and hooks, not while collecting. */
export interface EngineContext {
  readonly name: string
  readonly server: Server
  readonly engine: Engine
  readonly kind: EngineKind
}

export interface EngineChoice {
  /** The engines that the specs are about; all when left out. */
  readonly only?: readonly string[]
  /** Those of which the specs get a server of their own: where it remembers something for all its users. */
  readonly alone?: readonly string[]
}

/** For a test that starts servers of its own. Under an emulator one start takes up to half a minute. */
export const startsServers = { timeout: 600_000 } as const

/**
 * Runs the specs once for each engine, in a `describe` of its name and with a database of its own.
 *
 * An engine that is not there shows as a skipped test whose title says why.
 */
export function describeEngines(
  specs: (context: EngineContext) => void,
  { only, alone = [] }: EngineChoice = {},
): void {
  if (alone.length > 0) afterAll(endOwn)
  for (const { name, server, reason } of inject('engines')) {
    if (only?.includes(name) === false) continue
    describe(name, () => {
      if (server === undefined) test.skip(`${name}: not run: ${reason}`, () => {})
      else specs(contextOf(name, server, alone.includes(name) ? ownServer : undefined))
    })
  }
}

/** The context with more in it. Its getters are kept: what they give is there only inside tests and hooks. */
export function contextWith<Stage extends EngineContext>(
  context: EngineContext,
  more: Omit<Stage, keyof EngineContext>,
): Stage {
  const all = { ...Object.getOwnPropertyDescriptors(context), ...Object.getOwnPropertyDescriptors(more) }
  return Object.defineProperties({}, all) as Stage
}

/** Starts a server that one test has to itself; gives the reason where this engine cannot be had so. */
export function startPrivate(name: string): Promise<PrivateServer | Unavailable> {
  const shared = inject('engines').find((engine) => engine.name === name)?.server
  return startAnother(name, shared?.origin)
}

const own = new Map<string, Promise<PrivateServer | Unavailable>>()

/** One for each engine, ended behind the specs. Where there can be none, the one of all files. */
async function ownServer(name: string, shared: Server): Promise<Server> {
  if (!own.has(name)) own.set(name, startPrivate(name))
  const started = await own.get(name)
  return started === undefined || 'unavailable' in started ? shared : started.server
}

async function endOwn(): Promise<void> {
  for (const started of own.values()) {
    const server = await started
    if (!('unavailable' in server)) await server.stop()
  }
  own.clear()
}

function contextOf(
  name: string,
  server: Server,
  another?: (name: string, shared: Server) => Promise<Server>,
): EngineContext {
  let ready: { readonly engine: Engine; readonly kind: EngineKind } | undefined
  beforeAll(async () => {
    const kind = await loadEngine(name)
    ready = { kind, engine: await kind.connect((await another?.(name, server)) ?? server) }
  })
  afterAll(() => ready?.engine.close())
  const get = <K extends 'engine' | 'kind'>(
    key: K,
  ): { readonly engine: Engine; readonly kind: EngineKind }[K] => {
    if (ready === undefined) throw new Error(`${name}: \`${key}\` is there only inside a test or a hook`)
    return ready[key]
  }
  return {
    name,
    server,
    get engine() {
      return get('engine')
    },
    get kind() {
      return get('kind')
    },
  }
}
