import type { Category } from './core/category.ts'
import { UnsupportedLockError } from './core/errors.ts'
import { statementsAtOnce, type Plan, type QueryLock, type Waiting } from './core/plan.ts'
import type { RequestOf } from './core/request.ts'
import { sampleRequest } from './core/sample-request.ts'
import { isSql, type Statement } from './core/statement.ts'
import { emit, type ServerKind } from './emit.ts'

/**
 * What a lock does on a server, for people: each statement in the order it is sent, what is granted and who waits.
 *
 * A lock that the server cannot give is explained too: why not, and what to use instead.
 */
export function explain<C extends Category>(server: ServerKind, category: C, request?: RequestOf<C>): string {
  try {
    return explainPlan(emit(server, category, request ?? sampleRequest[category]))
  } catch (error) {
    if (!(error instanceof UnsupportedLockError)) throw error
    return [
      `${error.dialect} ${error.category}: unsupported`,
      line('why', error.reason),
      line('instead', error.instead),
    ].join('\n')
  }
}

function explainPlan(plan: Plan): string {
  const { support } = plan
  const lines = [
    `${plan.dialect} ${plan.category}: ${support.level}, ${plan.mode}, ${support.granularity}`,
    ...(support.note === undefined ? [] : [line('note', support.note)]),
    line('waits', describeWaiting(plan.waiting)),
    ...plan.needs.map((statement) => line('needs', show(statement))),
    ...withSetting(
      plan,
      plan.beforeBegin.map((statement) => line('lock', show(statement))),
    ),
    ...beginning(plan),
    ...withSetting(plan, [
      ...plan.inTransaction.map((statement) => line('lock', show(statement))),
      ...describeQuery(plan.query),
    ]),
    line('end', 'COMMIT or ROLLBACK'),
    ...plan.afterEnd.map((statement) => line('release', show(statement))),
  ]
  return lines.join('\n')
}

function beginning(plan: Plan): readonly string[] {
  const { atOnce, begin } = plan
  if (atOnce !== undefined)
    return withSetting(
      plan,
      statementsAtOnce(atOnce).map((statement) => line('begin', show(statement))),
    )
  return [line('begin', begin === undefined ? 'BEGIN' : `BEGIN ${begin}`)]
}

/** The setting belongs to the one place where the lock is taken. */
function withSetting({ setting }: Plan, lockLines: readonly string[]): readonly string[] {
  if (setting === undefined || lockLines.length === 0) return lockLines
  return [
    ...(setting.read === undefined ? [] : [line('save', show(setting.read))]),
    line('set', show(setting.apply)),
    ...lockLines,
    line('restore', show(setting.restore)),
  ]
}

function describeQuery(query: QueryLock | undefined): readonly string[] {
  if (query === undefined) return []
  const read = query.read === undefined ? [] : [line('read', show(query.read))]
  switch (query.style) {
    case 'clause':
      return [line('clause', query.clause), ...read]
    case 'table-hint':
      return [line('hints', query.hints.join(', ')), ...read]
    case 'touch':
      return [line('touch', show(query.touch)), ...read]
    case 'covered':
      return read
  }
}

function describeWaiting({ by, timeoutMs }: Waiting): string {
  const limit = timeoutMs === undefined ? 'until the lock is free' : `at most ${timeoutMs} ms`
  switch (by) {
    case 'server':
      return `in the server, ${limit}`
    case 'statement':
      return `by repeating the lock statement, ${limit}`
    case 'transaction':
      return `by repeating the transaction, ${limit}`
    case 'nobody':
      return 'never'
  }
}

function line(label: string, text: string): string {
  return `  ${label.padEnd(8)} ${text}`
}

function show(statement: Statement): string {
  if (!isSql(statement)) return JSON.stringify(statement.command)
  const params = statement.params.map((value) =>
    typeof value === 'string' ? JSON.stringify(value) : String(value),
  )
  return params.length === 0 ? statement.sql : `${statement.sql}  [${params.join(', ')}]`
}
