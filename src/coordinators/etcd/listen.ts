import type { Sessions } from '../../core/session.ts'
import { beginListening } from '../begin-listening.ts'
import type { Gateway, Json } from './gateway.ts'
import { bytes } from './requests.ts'

/**
 * Hears of every key below the topic that is deleted, by its release or by etcd, as the name of its lease. When the watch
 * ends, the listener is told the empty text, and hears no more.
 */
export function listenIn({ stream }: Gateway): NonNullable<Sessions['listen']> {
  return async (topic, wake) => {
    const over = new AbortController()
    const request = { key: bytes(topic), range_end: bytes(endOf(topic)), filters: ['NOPUT'] }
    const begin = async (): Promise<AsyncGenerator<Json>> => {
      const lines = linesOf(await stream('/v3/watch', { create_request: request }, over.signal))
      // only what is deleted after this answer is heard of
      await lines.next()
      return lines
    }
    const end = (): void => over.abort()
    const answers = await beginListening(begin(), end)
    void follow(answers, (key) => wake(key.slice(topic.length))).finally(() => {
      if (!over.signal.aborted) wake('')
      over.abort()
    })
    return async () => end()
  }
}

async function follow(answers: AsyncIterator<Json>, tell: (key: string) => void): Promise<void> {
  try {
    for (let next = await answers.next(); next.done !== true; next = await answers.next()) {
      const { events = [] } = next.value as { readonly events?: readonly { readonly kv: { key: string } }[] }
      for (const { kv } of events) tell(Buffer.from(kv.key, 'base64').toString())
    }
  } catch {
    // the listener is told that it has ended
  }
}

/** The answers of a stream, each on a line of its own. */
async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<Json> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const part of body) {
    text += decoder.decode(part, { stream: true })
    const lines = text.split('\n')
    text = lines.pop() ?? ''
    for (const line of lines) yield resultIn(JSON.parse(line) as Json)
  }
}

function resultIn({ result, error }: Json): Json {
  const { canceled, cancel_reason: why = error } = (result ?? {}) as Json
  if (result === undefined || canceled === true)
    throw new Error(`the watch was ended: ${JSON.stringify(why)}`)
  return result as Json
}

/** The first key behind all that begin with this text. */
function endOf(prefix: string): string {
  return prefix.slice(0, -1) + String.fromCodePoint((prefix.codePointAt(prefix.length - 1) ?? 0) + 1)
}
