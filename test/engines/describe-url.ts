/**
 * The address without anything secret: no user, no password, no options.
 *
 * Everything up to the last `@` goes, because a raw password may hold any character; too little shown is safe.
 */
export function describeUrl(url: string): string {
  if (url.startsWith('/') || url === ':memory:') return url
  const scheme = /^[a-z][a-z0-9+.-]*:\/\//i.exec(url)?.[0]
  if (scheme === undefined) return '(an address without a scheme)'
  const rest = url.slice(scheme.length)
  const place = rest.slice(rest.lastIndexOf('@') + 1)
  return scheme + place.replace(/[?#;].*$/s, '')
}
