const ADDRESS = /^(?<hosts>mongodb(?:\+srv)?:\/\/[^/?]+)(?:\/(?<path>[^?]*))?(?:\?(?<options>.*))?$/

/**
 * The same address, leading into another database, which is the client's name on the server as well.
 *
 * An address may name several hosts, which makes it no URL in the sense of the `URL` class.
 */
export function intoMongodbDatabase(url: string, database: string): string {
  const { hosts, path = '', options } = ADDRESS.exec(url)?.groups ?? {}
  if (hosts === undefined) throw new Error('a MongoDB address begins with mongodb:// or mongodb+srv://')
  const given = [...new URLSearchParams(options)]
  const result = new URLSearchParams(given.filter((option) => !isNamed('appname', option)))
  // the account is looked up in the database that the address led into, unless it says otherwise
  if (hosts.includes('@') && !given.some((option) => isNamed('authsource', option))) {
    result.set('authSource', path === '' ? 'admin' : path)
  }
  result.set('appName', database)
  return `${hosts}/${database}?${result.toString()}`
}

function isNamed(wanted: string, [name]: [string, string]): boolean {
  return name.toLowerCase() === wanted
}
