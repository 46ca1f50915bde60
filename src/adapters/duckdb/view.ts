import { fateOf } from './words.ts'
import { refuseEnding } from '../transaction-body.ts'

/** What a call of the work is asked for and told to. */
export interface Guard {
  readonly track: <T>(result: Promise<T>) => Promise<T>
  readonly note: (error: unknown) => void
  /** Throws once the transaction has ended. */
  readonly mayCall: () => void
  /** Throws while a statement runs. */
  readonly mayDisconnect: () => void
}

type Method = (...args: unknown[]) => unknown

interface Member {
  readonly object: object
  readonly name: string
  readonly method: Method
}

const disconnects = /^(?:disconnect|close)Sync$/
const takesSql = /^(?:run|stream|start|prepare|extract)/

/**
 * The connection for the work of one transaction: its calls are known, and refused once that has ended. So are those of
 * what it gives: prepared statements, results that are still read, appenders.
 */
export function viewOf<T extends object>(object: T, guard: Guard): T {
  const view: T = new Proxy(object, {
    get: (_, name) => {
      const value: unknown = Reflect.get(object, name, object)
      if (typeof value !== 'function') return value
      const member = { object, name: String(name), method: value as Method }
      // an iteration is made of calls: those that it makes on the view are known
      if (kindOf(value) === 'AsyncGeneratorFunction') return member.method.bind(view)
      return (...args: unknown[]) => call(member, args, guard)
    },
  })
  return view
}

function call(member: Member, args: unknown[], guard: Guard): unknown {
  const { object, name, method } = member
  try {
    if (!isFree(member)) guard.mayCall()
    if ('disconnectSync' in object && disconnects.test(name)) guard.mayDisconnect()
    if (takesSql.test(name)) refuseEnding(fateOf, args[0])
  } catch (refusal) {
    // whoever catches the rejection of a call that is not waited for expects no error from the call itself
    if (kindOf(method) === 'AsyncFunction') return rejected(refusal)
    throw refusal
  }
  const result = send(member, args, guard)
  if (!(result instanceof Promise)) return derived(result, guard)
  return guard.track(result.then((value: unknown) => derived(value, guard)))
}

async function rejected(refusal: unknown): Promise<never> {
  throw refusal
}

function send({ object, method }: Member, args: unknown[], { note }: Guard): unknown {
  try {
    return Reflect.apply(method, object, args)
  } catch (error) {
    note(error)
    throw error
  }
}

/** Needs no transaction: what frees memory, and what was read before. */
function isFree({ object, name, method }: Member): boolean {
  return name === 'destroySync' || (isStream(object) && kindOf(method) === 'Function')
}

/** What runs nothing on the connection is given as it is, and may be used for ever. */
function derived(value: unknown, guard: Guard): unknown {
  if (typeof value !== 'object' || value === null) return value
  const runs = runners.some((method) => method in value) || isStream(value)
  return runs ? viewOf(value, guard) : value
}

/** The methods by which prepared and extracted statements, started ones and appenders are known. */
const runners = ['bindValue', 'prepare', 'runTask', 'flushSync']

/** A result that is still read, or the reader of one. */
function isStream(value: object): boolean {
  const { isStreaming, result } = value as { isStreaming?: unknown; result?: object | null }
  return isStreaming === true || (typeof result === 'object' && result !== null && isStream(result))
}

function kindOf(method: object): string {
  return Object.prototype.toString.call(method).slice('[object '.length, -1)
}
