import { LockUsageError } from '../../core/errors.ts'
import { inWords } from '../../core/in-words.ts'
import { EtcdError, grpc, isOfOneMember, refused } from './errors.ts'

/** As much of `fetch` as is used. */
export type EtcdFetch = (url: string, init: EtcdRequest) => Promise<EtcdResponse>

/** A request as `fetch` takes it. */
export interface EtcdRequest {
  readonly method: 'POST'
  readonly headers: Record<string, string>
  readonly body: string
  readonly signal: AbortSignal
}

/** A response as `fetch` gives it. */
export interface EtcdResponse {
  readonly ok: boolean
  readonly status: number
  readonly body: AsyncIterable<Uint8Array> | null
  text(): Promise<string>
}

/** Who logs in, where the cluster wants that. */
export interface EtcdAuth {
  readonly user: string
  readonly password: string
}

export interface GatewayOptions {
  readonly endpoints: readonly string[]
  readonly auth: EtcdAuth | undefined
  readonly fetch: EtcdFetch
}

export type Json = Readonly<Record<string, unknown>>

/** The members of one cluster, by their JSON gateway: https://etcd.io/docs/latest/dev-guide/api_grpc_gateway/ */
export interface Gateway {
  /** Asks one member after another until one answers, the last one that did first. */
  readonly call: (path: string, body: Json) => Promise<Json>
  /** Opens a stream of answers, which ends with the signal. */
  readonly stream: (path: string, body: Json, signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>
}

/**
 * How long all members together may take: less than somebody waits who does not want to wait, so that the error says what
 * is wrong. Each has its part, and not less than a second.
 */
const patienceMs = 4000

export function createGateway({ endpoints, auth, fetch }: GatewayOptions): Gateway {
  const among = createRounds(endpoints)
  const eachMs = Math.max(1000, Math.ceil(patienceMs / endpoints.length))
  const post = posting(fetch)
  const logged = createLogin(auth, (body) => among((at) => read(post, `${at}${authPath}`, { body, eachMs })))
  return {
    call: (path, body) =>
      logged((token) => among((at) => read(post, `${at}${path}`, { body, token, eachMs }))),
    stream: (path, body, signal) =>
      logged((token) =>
        among(async (at) => {
          const response = await post(`${at}${path}`, { body, token, signal })
          if (response.body === null) throw new EtcdError(grpc.unavailable, 'a stream has no body')
          return response.body
        }),
      ),
  }
}

const authPath = '/v3/auth/authenticate'

/** Asks one member after another, the one that answered last first. */
function createRounds(endpoints: readonly string[]): <T>(ask: (at: string) => Promise<T>) => Promise<T> {
  let preferred = 0
  return async (ask) => {
    const failed: EtcdError[] = []
    // of its own: other calls change who is preferred, and one that is asked twice would stand for one that is not asked
    const first = preferred
    for (let tried = 0; tried < endpoints.length; tried += 1) {
      const current = (first + tried) % endpoints.length
      const at = endpoints[current] ?? ''
      try {
        return await ask(at)
      } catch (thrown) {
        const error = thrown instanceof EtcdError ? saidBy(at, thrown) : thrown
        if (!isOfOneMember(error)) throw error
        failed.push(error)
        // unless another call has left it before
        if (preferred === current) preferred = (current + 1) % endpoints.length
      }
    }
    throw noneAnswered(failed)
  }
}

type WithToken = <T>(ask: (token: string | undefined) => Promise<T>) => Promise<T>

/** A token has its time, and a member that was started anew may not know it: then another one is asked for, once. */
function createLogin(auth: EtcdAuth | undefined, authenticate: (body: Json) => Promise<Json>): WithToken {
  if (auth === undefined) return (ask) => ask(undefined)
  let token: Promise<string> | undefined
  const logIn = async (): Promise<string> => {
    const answer = await authenticate({ name: auth.user, password: auth.password }).catch(notLoggedIn)
    return String(answer.token)
  }
  const current = async (): Promise<string> => {
    const asked = (token ??= logIn())
    asked.catch(() => {
      if (token === asked) token = undefined
    })
    return asked
  }
  return async (ask) => {
    const used = token
    try {
      return await ask(await current())
    } catch (error) {
      if (!(error instanceof EtcdError) || error.code !== grpc.unauthenticated) throw error
      if (token === used) token = undefined
      return ask(await current())
    }
  }
}

interface Post {
  readonly body: Json
  readonly token?: string | undefined
  readonly signal: AbortSignal
}

type Posting = (url: string, post: Post) => Promise<EtcdResponse>

function posting(fetch: EtcdFetch): Posting {
  return async (url, { body, token, signal }) => {
    const headers = {
      'content-type': 'application/json',
      // a member that knows of no leader says so at once, instead of waiting for one
      'grpc-metadata-hasleader': 'true',
      ...(token !== undefined && { authorization: token }),
    }
    const request = { method: 'POST', headers, body: JSON.stringify(body), signal } as const
    const response = await fetch(url, request).catch((error: unknown) => {
      throw unanswered(signal, error)
    })
    if (response.ok) return response
    throw readError(response.status, await textOf(response, signal))
  }
}

async function textOf(response: EtcdResponse, signal: AbortSignal): Promise<string> {
  return response.text().catch((error: unknown) => {
    throw unanswered(signal, error)
  })
}

async function read(
  post: Posting,
  url: string,
  { eachMs, ...request }: Omit<Post, 'signal'> & { readonly eachMs: number },
): Promise<Json> {
  const signal = AbortSignal.timeout(eachMs)
  const response = await post(url, { ...request, signal })
  const text = await textOf(response, signal)
  const answer = parse(text)
  // what every answer of etcd has, and what no error has, nor anybody else's answer
  const { header } = (answer.result ?? answer) as Json
  if (header === undefined) throw readError(response.status, text)
  return answer
}

/** The first answer: what streams gives each on a line of its own. Empty where it is none: a proxy has its own way. */
function parse(text: string): Json {
  const [line = ''] = text.split('\n')
  try {
    return Object(JSON.parse(line)) as Json
  } catch {
    return {}
  }
}

/** The same error, with the address of who it is from. There is no password in it: such addresses are refused. */
function saidBy(at: string, { code, message, cause }: EtcdError): EtcdError {
  return new EtcdError(code, `etcd at ${new URL(at).origin}: ${message}`, { cause })
}

function unanswered(signal: AbortSignal, cause: unknown): EtcdError {
  if (signal.aborted) return new EtcdError(grpc.deadlineExceeded, 'did not answer in time', { cause })
  // `fetch` says only that it failed
  const why = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause
  return new EtcdError(grpc.unavailable, `cannot be reached (${inWords(why)})`, { cause })
}

/** A stream tells its errors one level below. */
function readError(status: number, text: string): EtcdError {
  const { error, ...answer } = parse(text)
  const told: Json =
    typeof error === 'object' && error !== null ? (error as Json) : { message: error, ...answer }
  const code = told.grpc_code ?? told.code
  const { message } = told
  return new EtcdError(
    typeof code === 'number' ? code : status >= 500 ? grpc.unavailable : grpc.unknown,
    typeof message === 'string' ? message : `answers with HTTP ${status} (${beginningOf(text)})`,
  )
}

/** What is there instead of an answer of etcd's, for people to recognize. */
function beginningOf(text: string): string {
  return JSON.stringify(text.trim().slice(0, 80))
}

function noneAnswered(failed: readonly EtcdError[]): EtcdError {
  const who = failed.length === 1 ? 'the etcd member' : `none of ${failed.length} etcd members`
  const does = failed.length === 1 ? 'takes no lease now' : 'takes a lease now'
  const whys = failed.map(({ message }) => message).join('; ')
  const hint = 'without a majority of its members an etcd cluster does nothing'
  return new EtcdError(grpc.unavailable, `${who} ${does} (${whys}): ${hint}`, { cause: failed.at(-1) })
}

/** The request is not part of the error: it has the password. */
function notLoggedIn(error: unknown): never {
  if (error instanceof EtcdError && error.code === grpc.invalidArgument)
    throw refused(error, 'etcd refuses the user or the password')
  if (error instanceof EtcdError && error.code === grpc.failedPrecondition)
    throw new LockUsageError('auth', 'authentication is not enabled on this etcd: leave auth out', {
      cause: error,
    })
  throw error
}
