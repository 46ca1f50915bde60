import type { LockEvent, TransactionEvent } from '../events/shapes.ts'
import type { OtelAttributes, OtelContext } from './api.ts'
import type { Calls } from './calls.ts'
import { Holds, type Asked } from './holds.ts'
import type { Telemetry } from './telemetry.ts'
import { keyWords, known, placeWords, timeoutOf, waitWords, type Wording } from './words.ts'

export function tellLocks(
  to: Telemetry,
  wording: Wording,
  transactions: Calls<TransactionEvent>,
): Holds<LockEvent> {
  return new Holds(to, wording, {
    nameOf: ({ table }) => (table === undefined ? 'lock' : `lock ${table}`),
    asMeasured: (event) => measured(wording, event),
    asAnswered: (event) => answered(wording, event),
    metrics: {
      wait: 'lockWait',
      hold: 'lockHold',
      held: 'lockHeld',
      timeouts: 'lockTimeouts',
      lost: 'lockLost',
    },
    // what a span inside of the transaction has asked for is that span's own
    parentOf: ({ transaction }: LockEvent, { context, isInside }: Asked): OtelContext | undefined =>
      transaction === undefined || (isInside && to.hasSpan(context))
        ? undefined
        : transactions.contextOf(transaction),
    isLasting: ({ kind }) => kind === 'session',
    // one that a transaction has lost to is counted there
    onRefused: (event, context) => {
      if (event.errorKind !== 'deadlock' || event.transaction !== undefined) return
      to.record('deadlocks', 1, { attributes: known(placeWords(wording, event)), context })
    },
    onEnd: ({ transaction }, seconds) => {
      const call = transaction && transactions.get(transaction)
      if (call !== undefined) call.heldFor = Math.max(call.heldFor ?? 0, seconds)
    },
  })
}

function measured(wording: Wording, event: LockEvent): OtelAttributes {
  return known({
    ...placeWords(wording, event),
    'db.collection.name': event.table,
    'holdfast.lock.kind': event.kind,
    'holdfast.lock.mode': event.mode,
  })
}

function answered(wording: Wording, event: LockEvent): OtelAttributes {
  return known({
    ...measured(wording, event),
    'db.operation.name': 'lock',
    'holdfast.key': keyWords(wording, event.key),
    'holdfast.wait': waitWords(event.wait),
    'holdfast.timeout': timeoutOf(event.wait),
  })
}
