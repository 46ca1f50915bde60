import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { onTestFinished } from 'vitest'

/** How often each thing was told of one lock, lease or transaction. */
interface Entry {
  readonly kind: string
  readonly told: string[]
}

type Said = Readonly<Record<string, unknown>>

/** Everything that was told, by event. */
export type Ledger = Map<Said, Entry>

const steps = ['start', 'end', 'error', 'asyncStart', 'asyncEnd']

/** Keeps book of every event until the test ends. */
export function keepLedger(): Ledger {
  const ledger: Ledger = new Map()
  const book = (name: string, kind: string, step: string): void => {
    const hear = (message: unknown): void => {
      const event = message as Said
      const entry = ledger.get(event) ?? { kind, told: [] }
      entry.told.push(step)
      ledger.set(event, entry)
    }
    subscribe(name, hear)
    onTestFinished(() => void unsubscribe(name, hear))
  }
  for (const kind of ['transaction', 'lock', 'lease'])
    for (const step of steps) book(`tracing:holdfast:${kind}:${step}`, kind, step)
  for (const kind of ['lock', 'lease']) book(`holdfast:${kind}:ended`, kind, 'ended')
  return ledger
}

/** What is wrong in the books, once everything that was asked for is over. */
export function faultsIn(ledger: Ledger): readonly string[] {
  return [...ledger].flatMap(([event, { kind, told }]) => {
    const { outcome, waitedMs, heldMs, isLost } = event
    const isWrong =
      told.join() !== storyOf(kind, event).join() ||
      outcome === undefined ||
      (kind !== 'transaction' && !isTime(waitedMs)) ||
      (outcome === 'granted') !== isTime(heldMs) ||
      (outcome === 'granted') !== (isLost !== undefined)
    const what = { outcome, waitedMs, heldMs, isLost }
    return isWrong ? [`${kind}: ${told.join()} ${JSON.stringify(what)}`] : []
  })
}

/** The order in which an event of this outcome has to be told. */
function storyOf(kind: string, { outcome }: Said): readonly string[] {
  const hasFailed = kind === 'transaction' ? outcome !== 'committed' : outcome === 'refused'
  return [
    'start',
    'end',
    ...(hasFailed ? ['error'] : []),
    'asyncStart',
    'asyncEnd',
    ...(outcome === 'granted' ? ['ended'] : []),
  ]
}

function isTime(ms: unknown): boolean {
  return typeof ms === 'number' && ms >= 0
}
