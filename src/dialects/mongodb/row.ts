import type { CheckedRow } from '../../core/check-request.ts'
import { LockUsageError } from '../../core/errors.ts'
import { waitingBy, type PlanDraft } from '../../core/plan.ts'
import type { Target } from '../../core/request.ts'
import type { DocumentCommand } from '../../core/statement.ts'
import { emulated, unsupported, type Unsupported } from '../../core/support.ts'
import { collection, fieldName } from './names.ts'

/**
 * The documents are written first in the transaction: whoever else writes them is aborted at once.
 *
 * Reads in a transaction lock nothing, and a write that changes nothing is dropped by the server, so a counter of
 * our own is what changes.
 */
export function row(request: CheckedRow): PlanDraft | Unsupported {
  if (request.protectAbsence) {
    return unsupported(
      'a document that does not exist cannot be written',
      'take an advisory lock on the name of what may be missing',
    )
  }
  const { target } = request
  if (target === undefined)
    throw new LockUsageError('target', 'MongoDB locks a document by writing it: name collection and key')
  return {
    support: emulated(
      'row',
      'the document is written to, so a second writer is aborted; its transaction is repeated',
    ),
    mode: 'exclusive',
    // A conflict is reported at once and ends the transaction, so only all of it can be repeated.
    waiting: waitingBy('transaction', request.wait),
    query: {
      style: 'touch',
      touch: touch(target),
      read: { command: { find: collection(target.table, 'target.table'), filter: filter(target) } },
    },
  }
}

function touch(target: Target): DocumentCommand {
  const update = { q: filter(target), u: { $inc: { _holdfast: 1 } }, multi: true }
  return { command: { update: collection(target.table, 'target.table'), updates: [update] } }
}

/** `$eq` and `$in` keep a value that looks like an operator a value. */
function filter({ key }: Target): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(key).map(([field, value]) => [
      fieldName(field, 'target.key'),
      Array.isArray(value) ? { $in: value.map(noPattern) } : { $eq: noPattern(value) },
    ]),
  )
}

/** In a list the server matches with a pattern; alone it is a value that hardly any document has. */
function noPattern(value: unknown): unknown {
  if (!(value instanceof RegExp) && !isBsonPattern(value)) return value
  throw new LockUsageError(
    'target.key',
    'a pattern is not a value: name the documents with { collection, filter }',
  )
}

function isBsonPattern(value: unknown): boolean {
  const { _bsontype: kind } = Object(value) as { readonly _bsontype?: unknown }
  return kind === 'BSONRegExp'
}
