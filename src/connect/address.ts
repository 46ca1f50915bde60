import { ConnectError } from './connect-error.ts'

/** An address of a server, taken apart. */
export interface Address {
  /** The same address with every character in it written so that no driver can misread it. */
  readonly url: string
  /** Empty when it names none. */
  readonly user: string
  /** Empty when it names none. */
  readonly database: string
  /** All that must never be shown, in every way in which it may be written. */
  readonly secrets: readonly string[]
}

const SHAPE =
  /^(?<protocol>[a-z][a-z0-9+.-]*:\/\/)(?:(?<login>[^/?#]*)@)?(?<hosts>[^/?#@]*)(?:\/(?<database>[^?#@]*))?(?:\?(?<options>[^#@]*))?$/i
const HOSTS = /^(?:(?:\[[0-9a-f:.%]+\]|[^:[\],]*)(?::\d{1,5})?(?:,|$))*$/i

/** Options whose values are no secrets. Whatever else stands behind the question mark may be one. */
const HARMLESS =
  /^(?:host|port|user|database|db|dbname|ssl|sslmode|encrypt|charset|timezone|application_?name|replicaset|authsource|directconnection|retrywrites|w)$/i

/** Reads the address of a server. Throws {@link ConnectError}, which repeats nothing of an address that is unclear. */
export function parseAddress(url: string, example: string): Address {
  const { protocol, login, hosts = '', database, options } = SHAPE.exec(url)?.groups ?? {}
  if (protocol === undefined || !HOSTS.test(hosts)) throw unclear(example)
  const [user = '', ...rest] = (login ?? '').split(':')
  const password = rest.join(':')
  const written = [user, ...(rest.length > 0 ? [password] : [])].map(encoded).join(':')
  return {
    url: [
      protocol,
      login === undefined ? '' : `${written}@`,
      hosts,
      database === undefined ? '' : `/${database}`,
      options === undefined ? '' : `?${options}`,
    ].join(''),
    user: decoded(user),
    database: decoded(database ?? ''),
    secrets: [password, ...secretOptions(options ?? '')].flatMap(spellings),
  }
}

/**
 * The address without anything secret: no user, no password, no options.
 *
 * Everything up to the last `@` goes, because a raw password may hold any character; too little shown is safe. One that
 * may stand in an option has no host behind it.
 */
export function describeAddress(url: string): string {
  if (/^(?:\/|:memory:$)/.test(url)) return url
  const scheme = /^[a-z][a-z0-9+.-]*:\/\//i.exec(url)?.[0]
  if (scheme === undefined) return describeFile(url)
  const rest = url.slice(scheme.length)
  const behind = rest.lastIndexOf('@') + 1
  const place = rest.slice(behind).replace(/[?#;].*$/s, '')
  const [hosts = ''] = place.split('/', 1)
  const isPlace = HOSTS.test(hosts) && !/#|[?;][\w ]*=/.test(rest.slice(0, behind))
  return isPlace ? scheme + place : `${scheme}...`
}

/** The same address, leading into another database. */
export function intoDatabase(url: string, database: string): string {
  // the error of the parser shows the whole address, with its password
  if (!URL.canParse(url)) throw new ConnectError('address', 'the address cannot be read')
  const address = new URL(url)
  address.pathname = `/${encodeURIComponent(database)}`
  // a driver may let an option overrule the path
  const names = [...address.searchParams.keys()].filter((name) => /^(?:database|db|dbname)$/i.test(name))
  for (const name of names) address.searchParams.delete(name)
  return address.href
}

/** A path, perhaps behind a protocol. What could be a list of settings or hold a login is not shown. */
function describeFile(url: string): string {
  const path = /^(?:[a-z][a-z0-9+.-]+:)?(?:[a-z]:)?(?=[^?#]*[./\\])[^@:;=?#]+(?=$|[?#])/i.exec(url)?.[0]
  return path ?? '(an address without a scheme)'
}

function unclear(example: string): ConnectError {
  return new ConnectError(
    'address',
    `the address cannot be read: write it as ${example}, and in a user name, a password and an option the ` +
      'characters @ : / ? # % as %40 %3A %2F %3F %23 %25',
  )
}

function secretOptions(options: string): readonly string[] {
  return [...new URLSearchParams(options)].filter(([name]) => !HARMLESS.test(name)).map(([, value]) => value)
}

function spellings(secret: string): readonly string[] {
  const all = [secret, decoded(secret), encoded(secret), encodeURI(decoded(secret))]
  return [...new Set(all)].filter((text) => text !== '')
}

function encoded(text: string): string {
  return encodeURIComponent(decoded(text))
}

/** A text with a percent sign that begins no code can only be meant as it stands. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
