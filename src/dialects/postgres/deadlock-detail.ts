import type { ErrorLike } from '../../core/classification.ts'
import type { LockKind } from '../../core/inspection.ts'

/** One of the waits of a deadlock, as PostgreSQL writes it in the detail of its error. */
export interface DetailedWait {
  readonly waiter: string
  readonly blocker: string
  readonly mode: string
  readonly thing: Thing
}

export interface Thing {
  readonly kind: LockKind
  /** As people would say it, but for the name of the relation. */
  readonly on: string
  /** The number of the relation that it is or belongs to. */
  readonly relation?: string
}

/**
 * The waits in the detail of a 40P01: the first one is that of the victim, which has found the deadlock itself.
 *
 * `Process 7 waits for ShareLock on transaction 730; blocked by process 8.` The words are in the language of the server;
 * in every one the waiter is the first number and the blocker the last.
 */
export function waitsInDetail({ detail }: ErrorLike): readonly DetailedWait[] {
  if (typeof detail !== 'string') return []
  return detail.split('\n').flatMap((line) => {
    const numbers = line.match(/\d+/g) ?? []
    const [waiter, blocker] = [numbers[0], numbers.at(-1)]
    const mode = /\b\w+Lock\b/.exec(line)?.[0]
    if (waiter === undefined || blocker === undefined || numbers.length < 2 || mode === undefined) return []
    return [{ waiter, blocker, mode, thing: thingIn(line) }]
  })
}

function thingIn(line: string): Thing {
  const [, high, low, space] = /\[\d+,(\d+),(\d+),(\d+)\]/.exec(line) ?? []
  if (high !== undefined && low !== undefined)
    return { kind: 'name', on: `name ${advisoryName(high, low, space)}` }
  // only English says which number is what
  const said = /Lock on (.+); blocked by/.exec(line)?.[1]
  const relation = said === undefined ? undefined : /\brelation (\d+) of database/.exec(said)?.[1]
  if (relation !== undefined) return ofRelation(relation, said ?? '')
  if (said === undefined) return { kind: 'transaction', on: line.trim() }
  return { kind: said.startsWith('object') ? 'metadata' : 'transaction', on: said }
}

function ofRelation(relation: string, said: string): Thing {
  return said.startsWith('tuple')
    ? { kind: 'row', on: 'a row of', relation }
    : { kind: 'table', on: 'table', relation }
}

/** As `inspect` calls it: one number of 64 bits, or two of 32. */
function advisoryName(high: string, low: string, space: string | undefined): string {
  const [first, second] = [BigInt(high), BigInt(low)]
  if (space === '2') return `${BigInt.asIntN(32, first)}, ${BigInt.asIntN(32, second)}`
  return String(BigInt.asIntN(64, (first << 32n) | second))
}

/**
 * The table of the row that the victim waited for: `while updating tuple (0,1) in relation "account"`. Absent where it
 * waited for something else.
 */
export function tableInContext({ where }: ErrorLike): string | undefined {
  if (typeof where !== 'string') return undefined
  const [line = ''] = where.split('\n', 1)
  // from the first quote to the last: the name itself may have quotes, which the server does not mark
  return /\(\d+,\d+\)[^"«»„“]*["«»„“](?<table>.+)["«»“”]/.exec(line)?.groups?.table?.trim()
}
