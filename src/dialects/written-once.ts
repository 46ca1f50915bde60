import type { SqlStatement, Value } from '../core/statement.ts'
import type { Changes, QueueTable } from './claim.ts'

/** A statement about a queue, with places for the values of each call. */
export interface Written {
  readonly queue: QueueTable
  /** All that the text depends on beside the queue and `change`. */
  readonly kind: string
  readonly change?: Changes | 'delete'
  readonly write: () => SqlStatement
}

class Slot {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

/** What stands for a value while the text is written. */
export function slot<V extends Value>(name: string): V {
  return new Slot(name) as unknown as V
}

interface Known {
  readonly change: Changes | 'delete' | undefined
  readonly statement: SqlStatement
}

const known = new WeakMap<QueueTable, Map<string, Known>>()

/**
 * The statement with these values in its slots, to be prepared. It is written when it is asked for first: a queue is
 * asked for jobs thousands of times in a second, and writing the text took as long as the driver needs to send it.
 */
export function filled(written: Written, values: Readonly<Record<string, Value | undefined>>): SqlStatement {
  const { sql, params } = statementOf(written)
  return {
    sql,
    params: params.map((param: unknown) =>
      param instanceof Slot ? (values[param.name] ?? null) : (param as Value),
    ),
    isPrepared: true,
  }
}

function statementOf({ queue, kind, change, write }: Written): SqlStatement {
  let own = known.get(queue)
  if (own === undefined) known.set(queue, (own = new Map<string, Known>()))
  const found = own.get(kind)
  if (found !== undefined && found.change === change) return found.statement
  const statement = write()
  own.set(kind, { statement, change })
  return statement
}
