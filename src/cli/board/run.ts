import { once } from 'node:events'
import { isIPv6 } from 'node:net'

import type { InspectOptions } from '../../core/inspection.ts'
import type { Terminal } from '../command.ts'
import { isLoopback } from './guard.ts'
import type { Ending, EndingWay } from './look.ts'
import type { WatchedQueue } from './queue-option.ts'
import { serveBoard } from './server.ts'
import { openSource, type Source } from './source.ts'
import { createWatch } from './watch.ts'
import { withoutStatements } from './without-statements.ts'

export interface RunOptions {
  readonly host: string
  readonly port: number
  readonly token: string
  readonly allowsKill: boolean
  readonly hidesStatements: boolean
  readonly inspect: Omit<InspectOptions, 'signal'>
  readonly queues: readonly WatchedQueue[]
  readonly terminal: Pick<Terminal, 'write' | 'progress' | 'signal'>
}

/** Serves the board until the terminal's signal aborts. Rejects when it cannot begin. */
export async function runBoard(url: string, options: RunOptions): Promise<void> {
  const { host, port, token, terminal } = options
  const source = await openSource(url, options)
  const { title } = source
  const look: Source['look'] = options.hidesStatements
    ? async (signal) => withoutStatements(await source.look(signal))
    : source.look
  const watch = createWatch({ look })
  try {
    terminal.signal.throwIfAborted()
    const ending: Ending = options.allowsKill
      ? { isAllowed: true, ...(await source.ending()) }
      : { isAllowed: false, ways: [] }
    const end = async (id: string, way: EndingWay): Promise<boolean> => {
      const isFound = await source.end(id, way)
      terminal.progress(`board: ${isFound ? words[way] : 'the server knows no session'} ${id}\n`)
      return isFound
    }
    const served = await serveBoard({ host, port, token, title, watch, ending, end })
    try {
      terminal.progress(greeting(title, options))
      terminal.write(`${addressOf(host, served.port, token)}\n`)
      if (!terminal.signal.aborted) await once(terminal.signal, 'abort')
    } finally {
      await served.close()
    }
  } finally {
    await watch.close()
    await source.close()
  }
}

const words: Readonly<Record<EndingWay, string>> = {
  cancel: 'cancelled what is run by session',
  end: 'ended session',
}

function greeting(title: string, { host, allowsKill }: RunOptions): string {
  return [
    `board: looks at ${title} while a page is open, at most once a second; Ctrl-C ends it`,
    ...(allowsKill ? ['board: whoever has this address can end sessions'] : []),
    ...(isLoopback(host) ? [] : ['board: other machines can reach it, and what it sends is not encrypted']),
    '',
  ].join('\n')
}

function addressOf(host: string, port: number, token: string): string {
  const name = isIPv6(host) ? `[${host}]` : host
  return `http://${name}:${port}/${token === '' ? '' : `${token}/`}`
}
