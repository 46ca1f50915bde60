import type { RetryEvent, TransactionEvent } from '../events/shapes.ts'
import { spanKind } from './api.ts'
import { Calls } from './calls.ts'
import type { Telemetry } from './telemetry.ts'
import { errorType, keyWords, known, placeWords, type Wording } from './words.ts'

export function tellTransactions(to: Telemetry, wording: Wording): Calls<TransactionEvent> {
  return new Calls(to, wording, {
    nameOf: () => 'transaction',
    kind: spanKind.internal,
    asStarted: (event) => {
      const keys = event.keys.map((key) => keyWords(wording, key)).filter((key) => key !== undefined)
      return known({
        ...placeWords(wording, event),
        'db.operation.name': 'transaction',
        'holdfast.transaction.isolation': event.isolation,
        'holdfast.transaction.access': event.access,
        'holdfast.keys': keys.length === 0 ? undefined : keys,
      })
    },
    asEnded: (event, { heldFor }) =>
      known({
        ...placeWords(wording, event),
        'holdfast.transaction.attempts': event.attempts,
        'holdfast.transaction.outcome': outcomeOf(event),
        'holdfast.lock.hold.duration': heldFor,
      }),
    measure: (event, { seconds, context, failure }) => {
      const place = known(placeWords(wording, event))
      const attributes = known({ ...place, 'holdfast.transaction.outcome': outcomeOf(event) })
      to.record('transactionDuration', seconds, { attributes: { ...attributes, ...failure }, context })
      to.record('transactionAttempts', event.attempts, { attributes, context })
      if (event.errorKind === 'deadlock') to.record('deadlocks', 1, { attributes: place, context })
    },
  })
}

/** One word, as the values of attributes are. */
function outcomeOf({ outcome }: TransactionEvent): string | undefined {
  return outcome?.replace(' ', '_')
}

/** What tells that transactions are run again. */
export function tellRetries(
  to: Telemetry,
  wording: Wording,
  transactions: Calls<TransactionEvent>,
): (event: RetryEvent) => void {
  return (event) => {
    const { transaction, pauseMs, errorKind } = event
    const attributes = known(placeWords(wording, transaction))
    const type = { 'error.type': errorType(event) }
    const context = transactions.contextOf(transaction)
    to.record('transactionRetries', 1, { attributes: { ...attributes, ...type }, context })
    if (errorKind === 'deadlock') to.record('deadlocks', 1, { attributes, context })
    const said = {
      ...type,
      'holdfast.transaction.attempts': transaction.attempts,
      'holdfast.retry.pause': pauseMs / 1000,
    }
    to.safely(() => transactions.get(transaction)?.span?.addEvent('holdfast.transaction.retry', said))
  }
}
