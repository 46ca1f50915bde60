import type { Origin, StartedServer } from './engine.ts'
import { startProcess, type ProcessOptions } from './server-process.ts'

export interface ServerOptions extends Omit<ProcessOptions, 'isReady'> {
  readonly origin: Origin
  /** How clients reach it: it holds the port, which stays the same over a restart. */
  readonly url: string
  /** Connects and asks for the version. Called again and again until it does not reject: the server is then ready. */
  readonly version: (url: string) => Promise<string>
  /** Has what is stored written to its files, before a restart of a server that does not do so when it is told to end. */
  readonly flush?: (url: string) => Promise<void>
}

/** Starts a server of ours as a process and gives it in the form that every {@link Source} answers with. */
export async function startServer(options: ServerOptions): Promise<StartedServer> {
  const { name, origin, url, folder } = options
  let version = ''
  const isReady = async (): Promise<boolean> => {
    version = await options.version(url)
    return true
  }
  try {
    const { pid, freeze, thaw, end } = await startProcess({ ...options, isReady })
    return {
      server: { engine: name, version, origin, url, pid, folder: folder.path },
      freeze,
      thaw,
      restart: async () => {
        await options.flush?.(url)
        await end()
        return startServer(options)
      },
      stop: async () => {
        await end()
        await folder.remove()
      },
    }
  } catch (error) {
    await folder.remove()
    throw error
  }
}
