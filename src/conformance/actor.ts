import type { Action, ActionOf, SessionVerb, TransactionVerb } from './action.ts'
import { doAlone, doInTransaction, type Place } from './in-transaction.ts'
import { startScript, type OpenTransaction, type Script } from './script.ts'

/** One session of a schedule: it does one thing after another, each when it is told. */
export interface Actor {
  /** Settles when the action has ended, with what it saw. */
  readonly perform: (action: Action, isCaught?: boolean) => Promise<unknown>
  /** How often the library has repeated this session's transaction. */
  readonly repeats: () => number
  /** Ends whatever it has open, without waiting for others. */
  readonly leave: () => Promise<void>
}

type TransactionAction = ActionOf<TransactionVerb>

/** What a session has at hand, as it goes along. */
interface Hand {
  readonly place: Place
  /** Locks that outlive transactions. */
  readonly held: Map<string, { readonly release: () => Promise<void> }>
  readonly seen: Map<number, number>
  /** A transaction that was announced, and begins with what is first done in it. */
  announced: OpenTransaction | undefined
  script: Script<TransactionAction> | undefined
  giveUp: AbortController
  repeats: number
}

export function createActor(place: Place): Actor {
  const hand: Hand = {
    place,
    held: new Map(),
    seen: new Map(),
    announced: undefined,
    script: undefined,
    giveUp: new AbortController(),
    repeats: 0,
  }
  return {
    perform: async (action, isCaught) => {
      if (isForSession(action)) return doForSession(hand, action)
      const script = opened(hand)
      return script === undefined ? doAlone(place, action) : script.tell(action, isCaught)
    },
    repeats: () => hand.repeats,
    leave: () => leave(hand),
  }
}

/** What each verb means for a session; it gives what the session sees. */
type Doing = { readonly [V in SessionVerb]: (hand: Hand, action: ActionOf<V>) => Promise<unknown> }

const doing: Doing = {
  begin: async (hand, { options }) => {
    const { locks } = hand.place.client
    const all = { ...patience(hand), ...options }
    hand.announced = (work) => locks.transaction(work, all)
  },
  'begin-locked': async (hand, { key, options }) => {
    const { client, keyOf } = hand.place
    const all = { ...patience(hand), ...options }
    const open: OpenTransaction = (work) =>
      typeof key === 'string'
        ? client.locks.withLock(keyOf(key), work, all)
        : client.locks.withLocks(key.map(keyOf), work, all)
    await start(hand, open).entered
  },
  commit: (hand) => end(hand, 'commit'),
  'roll-back': (hand) => end(hand, 'rollBack'),
  'try-name': async ({ place: { client, keyOf } }, { key, isolation }) => {
    const got = await client.locks.tryLock(keyOf(key), granted, { ...(isolation && { isolation }) })
    return got.acquired ? got.value : 'busy'
  },
  acquire: async ({ place: { client, keyOf }, held, giveUp: { signal } }, { key, options }) =>
    void held.set(key, await client.locks.acquire(keyOf(key), { signal, ...options })),
  lease: async ({ place: { client, keyOf }, held, giveUp: { signal } }, { key, options }) =>
    void held.set(key, await client.locks.lease(keyOf(key), { signal, ...options })),
  release: async ({ held }, { key }) => {
    const lock = held.get(key)
    held.delete(key)
    await lock?.release()
  },
  'give-up': async (hand) => {
    hand.giveUp.abort(new Error('the caller gave up'))
    hand.giveUp = new AbortController()
  },
}

/** The compiler cannot follow that a verb and its action belong together. */
async function doForSession(hand: Hand, action: ActionOf<SessionVerb>): Promise<unknown> {
  const does = doing[action.verb] as (hand: Hand, action: Action) => Promise<unknown>
  return does(hand, action)
}

function isForSession(action: Action): action is ActionOf<SessionVerb> {
  return Object.hasOwn(doing, action.verb)
}

async function granted(): Promise<'granted'> {
  return 'granted'
}

/** Every transaction can be given up, and tells when it is repeated. */
function patience(hand: Hand): { readonly signal: AbortSignal; readonly onRetry: () => void } {
  return { signal: hand.giveUp.signal, onRetry: () => void (hand.repeats += 1) }
}

function start(hand: Hand, open: OpenTransaction): Script<TransactionAction> {
  const { place, seen } = hand
  const script = startScript<TransactionAction>(open, (tx, action) =>
    doInTransaction({ ...place, tx, seen }, action),
  )
  hand.script = script
  return script
}

function opened(hand: Hand): Script<TransactionAction> | undefined {
  if (hand.announced !== undefined) start(hand, hand.announced)
  hand.announced = undefined
  return hand.script
}

async function end(hand: Hand, how: 'commit' | 'rollBack'): Promise<void> {
  const script = opened(hand)
  if (script === undefined) throw new TypeError(`there is no transaction to ${how}`)
  await script[how]().finally(() => (hand.script = undefined))
}

async function leave({ giveUp, script, held }: Hand): Promise<void> {
  giveUp.abort(new Error('the law is over'))
  const open = script === undefined || script.isOver() ? [] : [script.rollBack()]
  await Promise.allSettled([...open, ...[...held.values()].map((lock) => lock.release())])
}
