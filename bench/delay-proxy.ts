import { fork } from 'node:child_process'
import { once } from 'node:events'

import { programOf } from '../test/engines/program.ts'

/** A loopback address behind which a server is as far away as in another building. */
export interface DelayProxy {
  readonly url: string
  readonly close: () => Promise<void>
}

/** In a process of its own: what is measured has this one for itself. */
export async function startDelayProxy(target: string, delayMs: number): Promise<DelayProxy> {
  const url = new URL(target)
  const program = await programOf(new URL('delay-proxy-child.ts', import.meta.url))
  const child = fork(program, [url.hostname, url.port, String(delayMs)], { execArgv: [] })
  const failed = once(child, 'exit').then(([code]) => {
    throw new Error(`the proxy did not start (${code})`)
  })
  failed.catch(() => {})
  const [port] = (await Promise.race([once(child, 'message'), failed])) as [number]
  url.hostname = '127.0.0.1'
  url.port = String(port)
  return {
    url: url.href,
    close: async () => {
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}
