import { inspect } from 'node:util'
import { unwrap } from '../core/unwrap.ts'
import { ConnectError, type ConnectFailure } from './connect-error.ts'
import type { Driver } from './driver.ts'

/** Whose error it is, and what must not be said of it. */
export interface Place {
  readonly driver: Driver
  /** As {@link describeAddress} gives it. */
  readonly shown: string
  readonly user: string
  readonly secrets: readonly string[]
}

/** An error of the driver's at log-in, in words that hold no secret. */
export function openFailure(error: unknown, place: Place): ConnectError {
  if (error instanceof ConnectError) return error
  const failure = failureOf(error, place.driver)
  return new ConnectError(failure, `${beginnings[failure](place)}: ${wordsOf(error, place)}`, {
    cause: causeOf(error, place),
  })
}

/** An error on a connection that was open. There, whatever is refused to a user is a matter of rights. */
export function workFailure(error: unknown, place: Place): ConnectError {
  if (error instanceof ConnectError) return error
  const found = failureOf(error, place.driver)
  const words = wordsOf(error, place)
  const cause = causeOf(error, place)
  if (found !== 'login' && found !== 'rights')
    return new ConnectError(found, `${place.shown}: ${words}`, { cause })
  return new ConnectError('rights', `${place.shown} denies it to ${userOf(place)}: ${words}`, { cause })
}

/** The same failure, with what was being done when it came, and perhaps what helps. */
export function whileDoing(doing: string, error: unknown, advice = ''): ConnectError {
  if (error instanceof ConnectError) {
    return new ConnectError(error.failure, `${doing}: ${error.message}${advice}`, { cause: error.cause })
  }
  return new ConnectError('unreachable', `${doing}: ${String(error)}${advice}`, { cause: error })
}

const beginnings: Readonly<Record<ConnectFailure, (place: Place) => string>> = {
  address: ({ shown }) => `cannot use the address ${shown}`,
  driver: ({ driver }) => `the driver ${driver.name} does not work`,
  unreachable: ({ shown }) => `cannot reach ${shown}`,
  login: (place) => `${place.shown} does not let ${userOf(place)} in`,
  rights: (place) => `${place.shown} does not let ${userOf(place)} in`,
}

function userOf({ user }: Place): string {
  return user === '' ? 'a client without a user name' : `the user ${JSON.stringify(user)}`
}

/** The outermost error that the driver's table knows decides. */
function failureOf(error: unknown, { failures, loginText }: Driver): ConnectFailure {
  for (const { error: layer } of unwrap(error)) {
    for (const mark of [layer.code, layer.errno, layer.number, layer.name]) {
      const failure = typeof mark === 'string' || typeof mark === 'number' ? failures[mark] : undefined
      if (failure !== undefined) return failure
    }
  }
  return error instanceof Error && loginText?.test(error.message) === true ? 'login' : 'unreachable'
}

/** What the driver says, unless a secret is in it: then no more than the code. */
function wordsOf(error: unknown, { secrets }: Place): string {
  const layers = unwrap(error).map((layer) => layer.error)
  const words = layers.map(({ message }) => message).find((text) => typeof text === 'string' && text !== '')
  const code = layers
    .map((layer) => layer.code)
    .find((one) => typeof one === 'string' || typeof one === 'number')
  const [line = ''] = String(words ?? code ?? error).split('\n', 1)
  if (!holds(line, secrets)) return line
  return code === undefined || holds(String(code), secrets)
    ? 'it gave no reason that can be shown'
    : String(code)
}

/** The driver's error as it is, unless somebody who prints it would print a secret. */
function causeOf(error: unknown, { secrets }: Place): unknown {
  return holds(inspect(error, { depth: 8, maxStringLength: null, maxArrayLength: null }), secrets)
    ? undefined
    : error
}

function holds(text: string, secrets: readonly string[]): boolean {
  return secrets.some((secret) => text.includes(secret))
}
