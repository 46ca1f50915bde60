import { noteDerived, originOf } from '../../core/derived.ts'
import { LockUsageError } from '../../core/errors.ts'
import { afterOthers, otherTerms, toItsEnd } from '../orm/nesting.ts'
import type { NestedWork, Wire } from '../orm/wire.ts'
import { hasEnded } from '../transaction-body.ts'
import { viewOf } from '../transaction-view.ts'
import { begun } from './client.ts'
import { noteLoan, transactionOn } from './driver-adapter.ts'
import { noteQueries } from './queries.ts'
import { unveiled } from './veil.ts'

interface Operation {
  readonly args: unknown
  readonly query: (args: unknown) => Promise<unknown>
}

interface Extensible {
  $extends(extension: object): object
}

interface Nesting {
  $transaction(work: (inner: object) => Promise<unknown>, options?: object): Promise<unknown>
}

/** What belongs to a `tx` that the work is given. */
interface Open {
  readonly connection: object
  isOver: boolean
  end: () => void
}

const opens = new WeakMap<object, Open>()

/** Prisma's own client of a transaction, on a connection that somebody else begins and ends the transaction on. */
export async function prismaOn(client: object, connection: object, wire: Wire): Promise<object> {
  const open: Open = { connection, isOver: false, end: () => {} }
  // Prisma compiles a query before it sends it: what is in the work is more than what is on the connection
  const followed = (client as Extensible).$extends({
    query: {
      $allOperations: ({ args, query }: Operation) => {
        if (open.isOver) throw hasEnded()
        return wire.call(() => unveiled(query(args)).then(answered))
      },
    },
  })
  let endLoan: (() => void) | undefined
  const { tx, end } = await begun(followed, (adapter) => {
    endLoan = noteLoan(adapter)
    return transactionOn(adapter, connection)
  })
  open.end = () => {
    endLoan?.()
    end()
  }
  const view = viewed(tx, open)
  opens.set(view, open)
  return view
}

/**
 * Prisma sends the operations of one tick as one batch, and after one that fails it leaves the rest out: their promises
 * are fulfilled with nothing, which no operation answers with.
 */
function answered(answer: unknown): unknown {
  if (answer !== undefined) return answer
  throw new LockUsageError(
    'tx',
    'Prisma did not send this operation, because another one of the same tick has failed: await one after another',
  )
}

export function prismaOff(tx: object): void {
  const open = opens.get(tx)
  if (open === undefined) return
  if (open.isOver) return
  open.isOver = true
  open.end()
}

/** The connection that a `tx` of {@link prismaOn}, or one nested in it, is on. */
export function connectionOf(tx: object): object | undefined {
  return opens.get(originOf(tx) as object)?.connection
}

function viewed(tx: object, open: Open): object {
  const view: object = viewOf(tx, (name, value) => {
    if (name !== '$transaction') return noteQueries({ of: tx, view }, name, value)
    return (work: unknown, options?: object) => nest({ of: view, tx, open }, work, options)
  })
  return view
}

interface Nest {
  readonly of: object
  readonly tx: object
  readonly open: Open
}

async function nest(
  { of, tx, open }: Nest,
  work: unknown,
  options: { readonly isolationLevel?: unknown } = {},
): Promise<unknown> {
  if (open.isOver) throw hasEnded()
  if (options.isolationLevel !== undefined) throw otherTerms()
  if (typeof work !== 'function')
    throw new LockUsageError(
      'tx',
      '$transaction of a list is another transaction beside this one: await the queries, or give it a function',
    )
  const nested = (self: NestedWork, inner: object): Promise<unknown> => {
    const view = viewed(inner, open)
    noteDerived(view, of)
    return toItsEnd(self, view, async () => (work as (inner: object) => unknown)(view))
  }
  return unveiled(
    afterOthers(of, (self) => (tx as Nesting).$transaction((inner) => nested(self, inner), options)),
  )
}
