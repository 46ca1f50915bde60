import type { Source, StartedServer, Unavailable } from './engine.ts'
import { messageOf } from './run-command.ts'

export interface ContainerOptions {
  readonly engine: string
  readonly image: string
  /** The port inside the container. */
  readonly port: number
  readonly env?: Readonly<Record<string, string>>
  /** Arguments for the image's own program. */
  readonly command?: readonly string[]
  /** How clients reach it, once host and port are known. */
  readonly url: (place: { readonly host: string; readonly port: number }) => string
  /** Connects and asks for the version; called until it does not reject. */
  readonly ready: (url: string) => Promise<string>
  /** @default 120_000 */
  readonly readyWithinMs?: number
}

type Testcontainers = typeof import('testcontainers')
type StartedContainer = import('testcontainers').StartedTestContainer

/** The engine in a container, where a container runtime answers. Its own sweeper ends it if this run is killed. */
export function containerSource(options: ContainerOptions): Source {
  return {
    origin: 'container',
    start: async () => {
      const library = await answering()
      return 'unavailable' in library ? library : startContainer(library, options)
    },
  }
}

async function answering(): Promise<Testcontainers | Unavailable> {
  try {
    // loaded only here: it is large, and some releases do not load on every Node
    const library = await import('testcontainers')
    await library.getContainerRuntimeClient()
    return library
  } catch {
    return { unavailable: 'no container runtime answers' }
  }
}

async function startContainer(library: Testcontainers, options: ContainerOptions): Promise<StartedServer> {
  const { image, port, env = {}, command = [] } = options
  const container = await new library.GenericContainer(image)
    .withExposedPorts(port)
    .withEnvironment(env)
    .withCommand([...command])
    .withStartupTimeout(options.readyWithinMs ?? 120_000)
    .start()
  try {
    return await describe(library, container, options)
  } catch (error) {
    await container.stop()
    throw error
  }
}

async function describe(
  library: Testcontainers,
  container: StartedContainer,
  options: ContainerOptions,
): Promise<StartedServer> {
  const { engine, port } = options
  const url = options.url({ host: container.getHost(), port: container.getMappedPort(port) })
  const version = await untilReady(options, url)
  const runtime = async () =>
    (await library.getContainerRuntimeClient()).container.dockerode.getContainer(container.getId())
  return {
    server: { engine, version, origin: 'container', url },
    freeze: async () => void (await (await runtime()).pause()),
    thaw: async () => void (await (await runtime()).unpause()),
    restart: async () => {
      await container.restart()
      return describe(library, container, options) // the port on the host may be another one now
    },
    stop: async () => void (await container.stop()),
  }
}

async function untilReady(
  { engine, ready, readyWithinMs = 120_000 }: ContainerOptions,
  url: string,
): Promise<string> {
  const deadline = Date.now() + readyWithinMs
  for (;;) {
    try {
      return await ready(url)
    } catch (error) {
      if (Date.now() > deadline) {
        throw new Error(
          `${engine} in a container was not ready after ${readyWithinMs} ms: ${messageOf(error)}`,
        )
      }
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}
