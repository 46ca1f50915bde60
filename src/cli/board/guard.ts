import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'

/** Whether two texts are the same, in a time that tells nothing of where they differ. */
export function isSameText(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => createHash('sha256').update(text).digest()) as [Buffer, Buffer]
  return timingSafeEqual(a, b)
}

/** Where a board can be reached. */
export interface Place {
  /** What it listens on: a name, or the number of an interface. */
  readonly host: string
  readonly port: number
}

/**
 * Whether a request was sent to where the board really is. A page of somebody else's can let a name of its own lead here,
 * but then that name stands in `Host`. Numbers cannot be made to lead elsewhere.
 */
export function isOwnHost(host: string | undefined, { host: own, port }: Place): boolean {
  const [, name = '', given] = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/i.exec(host ?? '') ?? []
  if (Number(given ?? 80) !== port) return false
  const bare = name.replace(/^\[|\]$/g, '').toLowerCase()
  if (bare === own.toLowerCase()) return true
  if (isLoopback(own)) return isLoopback(bare)
  return isEverywhere(own) && (isIP(bare) !== 0 || bare === 'localhost')
}

/** Whether only this machine can reach it. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

function isEverywhere(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}

/**
 * Why a request that would change something is refused; undefined when it is a page of ours that asks. Browsers send
 * `Origin` with each of these, and no page can send `Authorization` to another origin unless that origin agrees.
 */
export function refusalOf(headers: IncomingHttpHeaders, token: string): string | undefined {
  if (headers.origin === undefined || headers.origin !== `http://${headers.host}`)
    return 'it does not come from this page'
  if (headers['content-type'] !== 'application/json') return 'it is no JSON'
  const [, given = ''] = /^Bearer (.+)$/.exec(headers.authorization ?? '') ?? []
  return isSameText(given, token) ? undefined : 'the token is missing or wrong'
}
