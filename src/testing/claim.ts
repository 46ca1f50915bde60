import type { TableName } from '../core/request.ts'
import type { Row } from '../core/statement.ts'
import {
  countRows,
  type Changes,
  type ClaimStatements,
  type Counted,
  type HeldClaim,
  type QueueTable,
} from '../dialects/claim.ts'
import { command, type Change, type Condition } from './command.ts'

export function nameOf(table: TableName): string {
  return typeof table === 'string' ? table : table.join('.')
}

export function queueTopic({ table }: Pick<QueueTable, 'table'>): string {
  return `queue ${nameOf(table)}`
}

function matches({ where }: QueueTable): readonly Condition[] {
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
  // a column that a row does not have is an empty one
  misfits: [],
  topic: queueTopic,
  announce: (queue) => command({ do: 'tell', topic: queueTopic(queue), text: '' }),
}
