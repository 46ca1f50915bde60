import { visible } from '../conformance/reporters/visible.ts'
import { describeAddress } from '../connect/address.ts'

/** What must not be shown, and what is shown in its place. */
type Secret = readonly [secret: string, instead: string]

const code = '%(?:25)*' // a URL of a URL
const name = `(?:pass(?:word|wd|phrase)|pwd|secret|token|api(?:[ _+-]|${code}20)?key)`
const blank = `(?:\\s|${code}(?:20|0[9ad]))*`
const quote = `(?:\\\\?["']|${code}2[27])?${blank}`
const assigned = `${name}\\w*${quote}(?:=|${code}3d)${blank}`
const told = `${name}${quote}(?::|${code}3a)${blank}`
const assignedSetting = new RegExp(assigned, 'gi')
const anySetting = new RegExp(`${assigned}|${told}`, 'gi')
/** As far as its line, where it is not hidden yet. */
const openSetting = new RegExp(`(${assigned}|${told})(?!${blank}\\.\\.\\.)[^\\n]+`, 'gi')

/** Options whose values are names by what they are for: `token:7` is a key like any other. */
const ofNames = /^--(?:key|table|id|queue)(?:=|$)/

/**
 * Takes the logins of addresses out of a text: all of what stands before a host, and of the addresses that `args` has,
 * however they were written or cut. The `user:password` of an example stays. The same for what stands behind the name of
 * a password among settings, such as `password=`, up to the end of its word: how a value is quoted nobody knows.
 *
 * @param isFailure The text says what was not understood, or why nothing came of it. What is no address may be taken for
 * one there. Elsewhere only what has a protocol is one: a key may look like one without.
 */
export function withoutLogins(args: readonly string[], isFailure = false): (text: string) => string {
  const isName = (place: number): boolean =>
    !isFailure && [args[place - 1], args[place]].some((arg) => ofNames.test(arg ?? ''))
  const words = [...args, process.env['DATABASE_URL'] ?? '']
  const settings = words.flatMap((word, place) =>
    settingsIn(word, isName(place) ? assignedSetting : anySetting),
  )
  const addresses = words
    .map((word) => word.replace(/^--[^=]*=/, ''))
    .filter(isFailure ? mayBeAddress : hasProtocol)
  const described = addresses.map((address): Secret => [address, describeAddress(address)])
  const whole = [described, settings].flatMap(spelled)
  const parts = spelled(addresses.flatMap(partsOf))
  return (text) => {
    const known = replaced(text, whole)
    const all = isFailure && settings.length > 0 ? known.replaceAll(openSetting, '$1...') : known
    // parts last: what is left of a setting without its name looks like any word
    return replaced(all, parts).replaceAll(/(?<=[a-z]:\/\/)(?!user:password@)[^\s/?#@"'`\\]+@/gi, '')
  }
}

function replaced(text: string, secrets: readonly Secret[]): string {
  return secrets.reduce((now, [secret, instead]) => now.replaceAll(secret, () => instead), text)
}

/** From each name of a secret on, a word is shown up to its value. */
function settingsIn(word: string, setting: RegExp): readonly Secret[] {
  return [...word.matchAll(setting)]
    .map(({ 0: head, index }): Secret => [word.slice(index).trimEnd(), `${head}...`])
    .filter(([secret, instead]) => secret.length > instead.length - '...'.length)
}

/** Taken for something else, as a path or a module, only a part of an address may be left: its login, its options. */
function partsOf(address: string): readonly Secret[] {
  const login = /^(?:.*?:\/\/)?(.*:.*@)/s.exec(address)?.[1]
  const options = hasProtocol(address) ? /\?.+$/s.exec(address)?.[0] : undefined
  return [login, options].flatMap((part): readonly Secret[] => (part === undefined ? [] : [[part, '']]))
}

/** As a text may have them: the longest first, since one may be a part of another. */
function spelled(secrets: readonly Secret[]): readonly Secret[] {
  return secrets
    .toSorted(([one], [other]) => other.length - one.length)
    .flatMap(([secret, instead]): readonly Secret[] => [
      [secret, instead],
      [inJson(secret), inJson(instead)],
      [visible(secret), instead],
      [encodeURI(secret), instead],
    ])
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

function hasProtocol(word: string): boolean {
  return word.includes('://')
}

/** What is no address may be taken for one where it is only said what was not understood. */
function mayBeAddress(word: string): boolean {
  return /:.*@|:\/\//s.test(word)
}
