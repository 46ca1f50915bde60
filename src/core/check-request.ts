import type { Category } from './category.ts'
import {
  checkFlag,
  checkLease,
  checkNames,
  checkTableName,
  checkTarget,
  checkWait,
  oneOf,
  onlyKnown,
  show,
  waitWithoutSkip,
} from './check-field.ts'
import { LockUsageError } from './errors.ts'
import type { LockKey } from './key.ts'
import type {
  AdvisoryRequest,
  Isolation,
  LeaseTerms,
  LockMode,
  RequestOf,
  RowRequest,
  Strength,
  TableName,
  TableRequest,
  Target,
  Wait,
} from './request.ts'

interface CheckedAny {
  readonly exact: boolean
  readonly isolation: Isolation | undefined
  readonly mode: LockMode
}

/** A {@link RowRequest} with every field filled in. */
export interface CheckedRow extends CheckedAny {
  readonly strength: Strength
  readonly wait: Wait
  readonly of: readonly string[]
  readonly target: Target | undefined
  readonly protectAbsence: boolean
}

/** An {@link AdvisoryRequest} with every field filled in. */
export interface CheckedAdvisory extends CheckedAny {
  readonly key: LockKey
  readonly scope: 'transaction' | 'session'
  readonly wait: Exclude<Wait, 'skip'>
  readonly lease: LeaseTerms | undefined
}

/** A {@link TableRequest} with every field filled in. */
export interface CheckedTable extends CheckedAny {
  readonly table: TableName
  readonly wait: Exclude<Wait, 'skip'>
  readonly blockReaders: boolean
  readonly aliases: readonly string[]
}

/** The categories that lock rows of a query: how they wait is what tells most of them apart. */
export type RowCategory = Exclude<Category, 'advisory' | 'table'>

/** A request whose fields have been checked and whose defaults are filled in. */
export type CheckedRequest<C extends Category> = C extends 'advisory'
  ? CheckedAdvisory
  : C extends 'table'
    ? CheckedTable
    : CheckedRow

/** What is asked, under the category that really answers it: a row lock that skips is `skip-locked`, whatever it was asked as. */
export type Ask = {
  readonly [C in Category]: { readonly category: C; readonly request: CheckedRequest<C> }
}[Category]

/** Checks a request at the door. Each mistake is a {@link LockUsageError} that names the field. */
export function checkRequest<C extends Category>(category: C, request: RequestOf<C>): Ask
export function checkRequest(category: Category, request: RequestOf<Category>): Ask {
  if (typeof request !== 'object' || request === null)
    throw new LockUsageError('request', 'must be an object')
  if (category === 'advisory') return { category, request: checkAdvisory(request as AdvisoryRequest) }
  if (category === 'table') return { category, request: checkTable(request as TableRequest) }
  const row = checkRow(category, request)
  return { category: rowCategory(row), request: row }
}

function checkRow(category: RowCategory, request: RowRequest): CheckedRow {
  onlyKnown(request, ['mode', 'strength', 'wait', 'of', 'target', 'protectAbsence', 'exact', 'isolation'])
  const mode = rowMode(category, request.mode)
  return {
    exact: checkFlag('exact', request.exact),
    isolation: checkIsolation(request.isolation),
    mode,
    strength: rowStrength(mode, request.strength),
    wait: rowWait(category, request.wait),
    of: checkNames('of', request.of ?? []),
    target: request.target === undefined ? undefined : checkTarget(request.target),
    protectAbsence: checkFlag('protectAbsence', request.protectAbsence),
  }
}

function checkAdvisory(request: AdvisoryRequest): CheckedAdvisory {
  onlyKnown(request, ['key', 'mode', 'scope', 'wait', 'lease', 'exact', 'isolation'])
  if (request.key === undefined || request.key === null)
    throw new LockUsageError('key', 'an advisory lock needs a key')
  return {
    exact: checkFlag('exact', request.exact),
    isolation: checkIsolation(request.isolation),
    mode: oneOf('mode', request.mode ?? 'exclusive', modes),
    key: request.key,
    scope: oneOf('scope', request.scope ?? 'transaction', ['transaction', 'session']),
    wait: waitWithoutSkip(request.wait),
    lease: request.lease === undefined ? undefined : checkLease(request.lease),
  }
}

function checkTable(request: TableRequest): CheckedTable {
  onlyKnown(request, ['table', 'mode', 'wait', 'blockReaders', 'aliases', 'exact', 'isolation'])
  if (request.mode === 'shared' && request.blockReaders === true) {
    throw new LockUsageError(
      'blockReaders',
      'a shared lock lets readers in: make it exclusive, or leave blockReaders out',
    )
  }
  return {
    exact: checkFlag('exact', request.exact),
    isolation: checkIsolation(request.isolation),
    mode: oneOf('mode', request.mode ?? 'exclusive', modes),
    table: checkTableName('table', request.table),
    wait: waitWithoutSkip(request.wait),
    blockReaders: checkFlag('blockReaders', request.blockReaders),
    aliases: request.aliases === undefined ? [] : checkNames('aliases', request.aliases),
  }
}

function checkIsolation(isolation: Isolation | undefined): Isolation | undefined {
  return isolation === undefined ? undefined : oneOf('isolation', isolation, isolations)
}

const modes = ['exclusive', 'shared'] as const
const isolations = [
  'read uncommitted',
  'read committed',
  'repeatable read',
  'snapshot',
  'serializable',
] as const
const strengths: Readonly<Record<LockMode, readonly [Strength, Strength]>> = {
  exclusive: ['update', 'no-key-update'],
  shared: ['share', 'key-share'],
}

function rowMode(category: RowCategory, asked: LockMode | undefined): LockMode {
  const own = category === 'row-shared' ? 'shared' : category === 'row-exclusive' ? 'exclusive' : undefined
  const mode = oneOf('mode', asked ?? own ?? 'exclusive', modes)
  if (own !== undefined && mode !== own)
    throw new LockUsageError('mode', `${category} is ${own}, it cannot be ${mode}`)
  return mode
}

function rowStrength(mode: LockMode, asked: Strength | undefined): Strength {
  const [usual] = strengths[mode]
  const strength = oneOf('strength', asked ?? usual, [...strengths.exclusive, ...strengths.shared])
  if (!strengths[mode].includes(strength)) {
    throw new LockUsageError(
      'strength',
      `${strength} is not a strength of a lock that is ${mode}: use ${strengths[mode].join(' or ')}`,
    )
  }
  return strength
}

function rowWait(category: RowCategory, asked: Wait | undefined): Wait {
  const own = category === 'skip-locked' ? 'skip' : category === 'nowait' ? 'nowait' : undefined
  if (own !== undefined && asked !== undefined && asked !== own) {
    throw new LockUsageError(
      'wait',
      `${category} contradicts ${typeof asked === 'object' ? 'a timeout' : show(asked)}: leave wait out, or choose another category`,
    )
  }
  const wait = checkWait(asked ?? own ?? 'block')
  if (category === 'lock-timeout' && typeof wait !== 'object') {
    throw new LockUsageError('wait', 'lock-timeout needs { timeoutMs }')
  }
  return wait
}

function rowCategory(row: CheckedRow): RowCategory {
  if (row.wait === 'skip') return 'skip-locked'
  if (row.wait === 'nowait') return 'nowait'
  if (row.wait !== 'block') return 'lock-timeout'
  return row.mode === 'shared' ? 'row-shared' : 'row-exclusive'
}
