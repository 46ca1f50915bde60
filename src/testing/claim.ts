import { wallMs } from '../core/clock.ts'
import type { TableName } from '../core/request.ts'
import type { Row, Value } from '../core/statement.ts'
import {
  countRows,
  type Changes,
  type ClaimStatements,
  type Counted,
  type HeldClaim,
  type JobCounts,
  type QueueTable,
} from '../dialects/claim.ts'
import type { EnqueueStatements } from '../dialects/enqueue.ts'
import { command, type Change, type Condition } from './command.ts'
import { meets } from './match.ts'

export function nameOf(table: TableName): string {
  return typeof table === 'string' ? table : table.join('.')
}

export function queueTopic({ table }: Pick<QueueTable, 'table'>): string {
  return `queue ${nameOf(table)}`
}

function matches({ where }: Pick<QueueTable, 'where'>): readonly Condition[] {
  return where.map(({ column, values }) => ({ column, is: values }))
}

function isOver({ until }: QueueTable): Condition {
  return { column: until, over: true }
}

function free({ token, until, worker }: QueueTable, change: Changes = {}): Row {
  return { ...change, [token]: null, [until]: null, ...(worker !== undefined && { [worker]: null }) }
}

function counted(change: Omit<Change, 'do'>): Counted {
  return { statements: [command({ do: 'change', ...change })], count: countRows }
}

/** The row, as long as the claim is the holder's. */
function heldRow(queue: QueueTable, { id, token }: HeldClaim): Pick<Change, 'table' | 'where'> {
  return {
    table: nameOf(queue.table),
    where: [
      { column: queue.id, is: [id] },
      { column: queue.token, is: [token] },
    ],
  }
}

/** What a job that is done becomes. */
function ending({ token, until }: QueueTable, change: Changes | 'delete'): Pick<Change, 'set' | 'remove'> {
  return change === 'delete' ? { remove: true } : { set: { ...change, [token]: null, [until]: null } }
}

function countsOf(queue: QueueTable, rows: readonly Row[]): JobCounts {
  const { attempts, maxAttempts = Infinity } = queue
  const counts = { ready: 0, delayed: 0, claimed: 0, spent: 0 }
  for (const row of rows) {
    const isFree = meets(row, isOver(queue), wallMs())
    const isSpent = attempts !== undefined && Number(row[attempts] ?? 0) >= maxAttempts
    if (isFree) counts[isSpent ? 'spent' : 'ready'] += 1
    else counts[(row[queue.token] ?? null) === null ? 'delayed' : 'claimed'] += 1
  }
  return counts
}

/** Rows without an id get a number of their own. */
export const enqueue: EnqueueStatements = {
  insert: (queue, { columns, rows, isUnique }) =>
    command({
      do: 'insert-all',
      table: nameOf(queue.table),
      id: queue.id,
      rows: rows.map((row) => Object.fromEntries(columns.map((column, at) => [column, row[at]]))),
      ...(isUnique && queue.unique !== undefined && { unique: queue.unique }),
    }),
  stored: (rows) => rows,
  // a change of nothing: it locks
  find: (queue, keys, isHeld) => [
    command({
      do: isHeld ? 'change' : 'find',
      table: nameOf(queue.table),
      where: [
        ...matches(queue),
        { column: queue.token, is: [null] },
        { column: queue.unique ?? '', is: keys as readonly Value[] },
      ],
    }),
  ],
  takesAnything: true,
}

export const claim: ClaimStatements = {
  take: (queue, { token, worker, limit, visibilityMs }) => {
    const { attempts, maxAttempts, order } = queue
    const few =
      attempts === undefined || maxAttempts === undefined ? [] : [{ column: attempts, below: maxAttempts }]
    return {
      steps: [
        command({
          do: 'change',
          table: nameOf(queue.table),
          where: [...matches(queue), isOver(queue), ...few],
          order,
          limit,
          skip: true,
          set: {
            [queue.token]: token,
            ...(queue.unique !== undefined && { [queue.unique]: null }),
            ...(queue.worker !== undefined && { [queue.worker]: worker ?? null }),
          },
          inMs: { [queue.until]: visibilityMs },
          ...(attempts !== undefined && { add: { [attempts]: 1 } }),
        }),
      ],
    }
  },
  complete: (queue, held, change) => counted({ ...heldRow(queue, held), ...ending(queue, change) }),
  completeAll: (queue, { ids, token }, change) => ({
    change: command({
      do: 'change',
      table: nameOf(queue.table),
      where: [
        { column: queue.id, is: ids },
        { column: queue.token, is: [token] },
      ],
      ...ending(queue, change),
    }),
  }),
  release: (queue, held, delayMs) =>
    counted({
      ...heldRow(queue, held),
      set: free(queue),
      ...(delayMs > 0 && { inMs: { [queue.until]: delayMs } }),
    }),
  unclaim: (queue, held) =>
    counted({
      ...heldRow(queue, held),
      set: free(queue),
      ...(queue.attempts !== undefined && { add: { [queue.attempts]: -1 } }),
    }),
  extend: (queue, held, visibilityMs) =>
    counted({ ...heldRow(queue, held), inMs: { [queue.until]: visibilityMs } }),
  giveBack: (queue, limit) =>
    counted({
      table: nameOf(queue.table),
      where: [...matches(queue), isOver(queue), { column: queue.token, set: true }],
      set: free(queue),
      skip: true,
      limit,
    }),
  bury: (queue, { set, limit }) => {
    const { attempts = '', maxAttempts = 0 } = queue
    const spent: Condition = { column: attempts, atLeast: maxAttempts }
    return counted({
      table: nameOf(queue.table),
      where: [...matches(queue), isOver(queue), spent],
      set: free(queue, set),
      skip: true,
      limit,
    })
  },
  tally: (queue) => ({
    statement: command({ do: 'find', table: nameOf(queue.table), where: matches(queue) }),
    read: (rows) => countsOf(queue, rows),
  }),
  tallyDead: (queue, looks) => ({
    statement: command({ do: 'find', table: nameOf(queue.table), where: matches({ where: looks }) }),
    read: countRows,
  }),
  // a column that a row does not have is an empty one
  misfits: [],
  topic: queueTopic,
  announce: (queue) => command({ do: 'tell', topic: queueTopic(queue), text: '' }),
}
