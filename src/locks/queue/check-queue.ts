import { checkName, checkTableName, oneOf, onlyKnown, show } from '../../core/check-field.ts'
import { LockUsageError } from '../../core/errors.ts'
import type { Value } from '../../core/statement.ts'
import type { Changes, QueueCondition, QueueOrder, QueueTable } from '../../dialects/claim.ts'
import { isDeadAsDone } from './dead-looks.ts'
import type { Queue, QueueDefinition, QueueOrderTerm } from './queue-definition.ts'

const known = ['table', 'id', 'orderBy', 'where', 'claim', 'done', 'dead', 'visibilityMs']

type Row = Readonly<Record<string, unknown>>

/** Checks a description at the door; the mistake is a {@link LockUsageError} that names the field. */
export function checkQueue(definition: QueueDefinition): Omit<Queue, 'visibilityMs'> {
  mustBeObject('queue', definition)
  onlyKnown(definition, known)
  const table = checkTableName('table', definition.table)
  const id = checkName('id', definition.id)
  const claim = checkClaim(definition.claim, id)
  const where = checkWhere(definition.where ?? {}, Object.values(claim))
  const order = checkOrder(definition.orderBy, id, [claim.token, claim.until, claim.worker, claim.unique])
  const dead = checkDead(definition.dead, claim)
  const shape: QueueTable = {
    table,
    id,
    order,
    where,
    ...claim,
    ...(dead && { maxAttempts: dead.maxAttempts }),
  }
  const done = checkDone(definition.done, shape)
  if (dead !== undefined) checkDeadLooks(dead.set, shape, done)
  return { shape, done, ...(dead && { dead: dead.set }) }
}

type ClaimColumns = Pick<QueueTable, 'token' | 'until' | 'worker' | 'attempts' | 'unique'>

function checkClaim(claim: QueueDefinition['claim'], id: string): ClaimColumns {
  mustBeObject('claim', claim)
  onlyKnown(claim, ['token', 'until', 'worker', 'attempts', 'unique'], 'claim')
  const { token, until, worker, attempts, unique } = claim
  const columns = {
    token: checkName('claim.token', token),
    until: checkName('claim.until', until),
    ...(worker !== undefined && { worker: checkName('claim.worker', worker) }),
    ...(attempts !== undefined && { attempts: checkName('claim.attempts', attempts) }),
    ...(unique !== undefined && { unique: checkName('claim.unique', unique) }),
  }
  const names = [id, ...Object.values(columns)]
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined)
    throw new LockUsageError('claim', `${twice} is named twice: each needs a column of its own`)
  return columns
}

function checkWhere(where: Row, claimColumns: readonly string[]): readonly QueueCondition[] {
  mustBeObject('where', where)
  return Object.entries(where).map(([column, value]) => {
    const field = `where.${checkName('where', column)}`
    if (claimColumns.includes(column))
      throw new LockUsageError(field, 'is changed by every claim, so it cannot say which rows are jobs')
    const values: readonly unknown[] = Array.isArray(value) ? value : [value]
    if (values.length === 0) throw new LockUsageError(field, 'is an empty list, which no row matches')
    return { column, values: values.map((one) => checkValue(field, one)) }
  })
}

function checkOrder(
  orderBy: QueueDefinition['orderBy'],
  id: string,
  unfit: readonly (string | undefined)[],
): readonly QueueOrder[] {
  const terms = (Array.isArray(orderBy) ? orderBy : [orderBy]) as readonly QueueOrderTerm<Row>[]
  if (terms.length === 0) throw new LockUsageError('orderBy', 'is empty: say in which order jobs are claimed')
  const order = terms.map((term, index) => checkTerm(term, `orderBy[${index}]`))
  const columns = order.map(({ column }) => column)
  for (const [index, column] of columns.entries()) {
    const field = `orderBy[${index}]`
    if (columns.indexOf(column) !== index) throw new LockUsageError(field, `${column} is there before`)
    if (unfit.includes(column))
      throw new LockUsageError(field, `${column} is changed by every claim, so nothing can be ordered by it`)
  }
  return columns.includes(id) ? order : [...order, { column: id, direction: 'asc' }]
}

function checkTerm(term: QueueOrderTerm<Row>, field: string): QueueOrder {
  if (typeof term === 'string') return { column: checkName(field, term), direction: 'asc' }
  mustBeObject(field, term)
  onlyKnown(term, ['column', 'direction'], field)
  const { column, direction = 'asc' } = term
  return {
    column: checkName(`${field}.column`, column),
    direction: oneOf(`${field}.direction`, direction, ['asc', 'desc']),
  }
}

function checkDone(done: QueueDefinition['done'], shape: QueueTable): Changes | 'delete' {
  if (done === 'delete') return done
  mustBeObject('done', done, "must be 'delete' or { set }")
  onlyKnown(done, ['set'], 'done')
  const set = checkSet('done.set', done.set, shape)
  mustLeave('done.set', set, shape)
  return set
}

function checkDead(
  dead: QueueDefinition['dead'],
  claim: ClaimColumns,
): { readonly maxAttempts: number; readonly set: Changes } | undefined {
  if (dead === undefined) return undefined
  mustBeObject('dead', dead)
  onlyKnown(dead, ['afterAttempts', 'set'], 'dead')
  const { afterAttempts } = dead
  if (!Number.isSafeInteger(afterAttempts) || afterAttempts < 1)
    throw new LockUsageError('dead.afterAttempts', `${show(afterAttempts)} is not a whole number from 1 up`)
  if (claim.attempts === undefined)
    throw new LockUsageError('claim.attempts', 'is missing: without it nobody knows which jobs are dead')
  return { maxAttempts: afterAttempts, set: checkSet('dead.set', dead.set, claim) }
}

function checkSet(field: string, set: Row, { token, until, unique }: ClaimColumns): Changes {
  mustBeObject(field, set)
  return Object.fromEntries(
    Object.entries(set).map(([column, value]) => {
      if (column === token || column === until || column === unique)
        throw new LockUsageError(`${field}.${column}`, 'is set by the claim itself')
      return [checkName(field, column), checkValue(`${field}.${column}`, value)]
    }),
  )
}

/** A job that still matches would be claimed again at once. */
function mustLeave(field: string, set: Changes, { where }: QueueTable): void {
  const leaves = where.some(({ column, values }) => {
    const value = set[column]
    return value !== undefined && !values.includes(value)
  })
  if (leaves) return
  throw new LockUsageError(
    field,
    'leaves a row that would be claimed again: set a column of where to a value that is not in it',
  )
}

function checkDeadLooks(set: Changes, shape: QueueTable, done: Changes | 'delete'): void {
  mustLeave('dead.set', set, shape)
  if (!isDeadAsDone({ shape, done }, set)) return
  throw new LockUsageError(
    'dead.set',
    'leaves a row that looks like one that is done, so nobody could tell which is which: set a column to another value',
  )
}

export function checkValue(field: string, value: unknown): Value {
  const isValue =
    value === null ||
    ['string', 'number', 'bigint', 'boolean'].includes(typeof value) ||
    value instanceof Date ||
    value instanceof Uint8Array
  if (!isValue || Number.isNaN(value))
    throw new LockUsageError(
      field,
      `${show(value)} is not a value that can be sent to a database${isJson(value) ? ': pass JSON as text, with JSON.stringify' : ''}`,
    )
  return value as Value
}

function isJson(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

function mustBeObject(field: string, value: unknown, words = 'must be an object'): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new LockUsageError(field, words)
}
