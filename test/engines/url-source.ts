import { describeUrl } from './describe-url.ts'
import type { Source } from './engine.ts'
import { messageOf } from './run-command.ts'

export interface UrlSourceOptions {
  readonly engine: string
  /** Connects and asks for the version, once. */
  readonly version: (url: string) => Promise<string>
}

/** A server that somebody else runs, named by a variable of the environment such as `HOLDFAST_POSTGRES_URL`. */
export function urlSource(variable: string, { engine, version }: UrlSourceOptions): Source {
  return {
    origin: 'url',
    start: async () => {
      const url = process.env[variable]
      if (url === undefined || url === '') return { unavailable: `${variable} is not set` }
      try {
        return {
          server: { engine, version: await version(url), origin: 'url', url },
          stop: async () => {},
        }
      } catch (error) {
        // no `cause`: a driver's error may carry the whole address, password included
        throw new Error(`${variable} is set, but ${describeUrl(url)} does not answer: ${messageOf(error)}`)
      }
    },
  }
}
