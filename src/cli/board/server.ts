import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

import { LockUsageError } from '../../core/errors.ts'
import { isOwnHost, isSameText, refusalOf } from './guard.ts'
import type { Ending, EndingWay, Greeting, News } from './look.ts'
import { pageHeaders, pageText } from './page-text.ts'
import { openStream, type Stream } from './stream.ts'
import type { Watch } from './watch.ts'

export interface BoardOptions {
  readonly host: string
  /** 0 for any that is free. */
  readonly port: number
  /** What the path must begin with; empty where nothing is asked for. */
  readonly token: string
  /** For people, without secrets. */
  readonly title: string
  readonly watch: Watch
  readonly ending: Ending
  readonly end: (id: string, way: EndingWay) => Promise<boolean>
}

/** A board that can be opened in a browser. */
export interface Board {
  readonly port: number
  readonly close: () => Promise<void>
}

/** More pages than anybody has open; each costs memory for what it has not taken yet. */
const mostPages = 50

/** Serves the page, what it is told, and, where that is allowed, what it asks to be ended. */
export async function serveBoard(options: BoardOptions): Promise<Board> {
  const pages = createPages(options)
  const server = createServer({ requestTimeout: 10_000, maxHeaderSize: 16_384 }, (request, response) => {
    for (const [name, value] of Object.entries(pageHeaders)) response.setHeader(name, value)
    answer(request, response, { ...options, port: portOf(server), pages }).catch(() => response.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, options.host, resolve)
  })
  return {
    port: portOf(server),
    close: async () => {
      pages.close()
      server.closeAllConnections()
      await new Promise((resolve) => void server.close(resolve))
    },
  }
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}

interface Ground extends BoardOptions {
  readonly pages: Pages
}

async function answer(request: IncomingMessage, response: ServerResponse, ground: Ground): Promise<void> {
  if (!isOwnHost(request.headers.host, ground)) return refuse(response, 403, 'this name does not lead here')
  const route = routeOf(request.url ?? '/', ground.token)
  if (route === undefined)
    return refuse(
      response,
      403,
      'the token is missing or wrong: open the address that the program has printed',
    )
  const method = route === 'end' ? 'POST' : 'GET'
  if (!['', 'events', 'end'].includes(route)) return refuse(response, 404, 'there is nothing here')
  if (request.method !== method) {
    response.setHeader('allow', method)
    return refuse(response, 405, `use ${method}`)
  }
  if (route === 'end') return endFor(request, response, ground)
  if (route === 'events') return ground.pages.open(response)
  response.setHeader('content-type', 'text/html; charset=utf-8')
  response.end(pageText)
}

/** What stands behind the token. Undefined when that is wrong. */
function routeOf(url: string, token: string): string | undefined {
  const [path = '/'] = url.split('?', 1)
  if (token === '') return path.slice(1)
  const [, given = '', slash, route = ''] = /^\/([^/]*)(\/?)(.*)$/.exec(path) ?? []
  // without its last slash, the page would look for what it needs elsewhere
  return isSameText(given, token) && slash === '/' ? route : undefined
}

function refuse(response: ServerResponse, status: number, why: string): void {
  response.statusCode = status
  response.setHeader('content-type', 'text/plain; charset=utf-8')
  response.end(`${why}\n`)
}

interface Pages {
  readonly open: (response: ServerResponse) => void
  readonly close: () => void
}

function createPages({ watch, title, ending }: BoardOptions): Pages {
  const streams = new Set<Stream>()
  // however many pages there are, a look is written down once
  let written: { readonly news: News; readonly text: string } | undefined
  const textOf = (news: News): string => {
    if (written?.news !== news) written = { news, text: JSON.stringify(news) }
    return written.text
  }
  return {
    open: (response) => {
      if (streams.size >= mostPages) return refuse(response, 503, `there are ${mostPages} pages already`)
      response.setHeader('content-type', 'text/event-stream')
      const stream = openStream(response)
      streams.add(stream)
      const greeting: Greeting = { title, ending, history: watch.history.all() }
      stream.greet('greeting', JSON.stringify(greeting))
      const leave = watch.join((news) => stream.tell('news', textOf(news)))
      response.on('close', () => {
        leave()
        streams.delete(stream)
      })
    },
    close: () => {
      for (const stream of streams) stream.end()
    },
  }
}

async function endFor(request: IncomingMessage, response: ServerResponse, ground: Ground): Promise<void> {
  const { ending, watch, token } = ground
  if (!ending.isAllowed)
    return refuse(response, 403, 'this board only reads: start it with --allow-kill to end sessions')
  const refusal = refusalOf(request.headers, token)
  if (refusal !== undefined) return refuse(response, 403, refusal)
  const order = orderIn(await bodyOf(request))
  if (order === undefined || !ending.ways.includes(order.way))
    return refuse(response, 400, ending.reason ?? 'say { "id": ..., "way": "cancel" or "end" }')
  const isSeen = watch.news().look?.sessions.some(({ id }) => id === order.id)
  if (isSeen !== true)
    return refuse(response, 409, `${order.id} holds nothing and waits for nothing any more`)
  try {
    if (await ground.end(order.id, order.way)) return void response.writeHead(204).end()
    return refuse(response, 409, `the server knows no session ${order.id}`)
  } catch (error) {
    const status = error instanceof LockUsageError ? 400 : 502
    return refuse(response, status, (error as Error).message)
  }
}

/** An id and a way are short. */
const mostBytes = 1024

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const part of request.setEncoding('utf8')) {
    text += String(part)
    if (text.length > mostBytes) return ''
  }
  return text
}

function orderIn(text: string): { readonly id: string; readonly way: EndingWay } | undefined {
  try {
    const { id, way } = JSON.parse(text) as Readonly<Record<string, unknown>>
    return typeof id === 'string' && (way === 'cancel' || way === 'end') ? { id, way } : undefined
  } catch {
    return undefined
  }
}
