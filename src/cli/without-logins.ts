import { describeAddress } from '../connect/address.ts'

/**
 * Takes the logins of addresses out of a text: all of what stands before a host, and of the addresses that `args` has,
 * however they were written or cut. The `user:password` of an example stays.
 *
 * @param isAddress says of a word whether it is one. Behind a protocol anything is; a key may look like one without.
 */
export function withoutLogins(
  args: readonly string[],
  isAddress: (word: string) => boolean = hasProtocol,
): (text: string) => string {
  const words = [...args.map((arg) => arg.replace(/^--[^=]*=/, '')), process.env['DATABASE_URL'] ?? '']
  const shown = new Map<string, string>()
  for (const address of words.filter(isAddress)) {
    shown.set(address, describeAddress(address))
    // taken for something else, as a path or a module, only a part of it may be left
    const login = /^(?:.*?:\/\/)?(.*:.*@)/s.exec(address)?.[1]
    if (login !== undefined) shown.set(login, '')
  }
  const secrets = [...shown].flatMap(([secret, instead]) =>
    [secret, JSON.stringify(secret).slice(1, -1), encodeURI(secret)].map((spelling) => ({
      spelling,
      instead,
    })),
  )
  return (text) =>
    secrets
      .reduce((now, { spelling, instead }) => now.replaceAll(spelling, () => instead), text)
      .replaceAll(/(?<=[a-z]:\/\/)(?!user:password@)[^\s/?#@"'`\\]+@/gi, '')
}

function hasProtocol(word: string): boolean {
  return word.includes('://')
}

/** What is no address may be taken for one where it is only said what was not understood. */
export function mayBeAddress(word: string): boolean {
  return /:.*@|:\/\//s.test(word)
}
