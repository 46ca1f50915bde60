import type { ServerResponse } from 'node:http'

/** A page that is told the newest. */
export interface Stream {
  /** Sent whatever happens. */
  readonly greet: (event: string, data: string) => void
  /** Sent unless something newer comes before the page has taken what was sent last. */
  readonly tell: (event: string, data: string) => void
  readonly end: () => void
}

/** Server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html. The data is one line of JSON. */
export function openStream(response: ServerResponse): Stream {
  let newest: string | undefined
  const write = (event: string, data: string): void =>
    void response.write(`event: ${event}\ndata: ${data}\n\n`)
  response.on('drain', () => {
    const text = newest
    newest = undefined
    if (text !== undefined) response.write(text)
  })
  return {
    greet: write,
    tell: (event, data) => {
      if (response.writableNeedDrain) newest = `event: ${event}\ndata: ${data}\n\n`
      else write(event, data)
    },
    end: () => void response.end(),
  }
}
