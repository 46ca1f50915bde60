import { restoreStatement, statementsAtOnce, type Plan, type QueryLock } from '../../src/core/plan.ts'
import { isSql, readAnswer, type Answer, type Row, type Statement } from '../../src/core/statement.ts'
import type { EngineSession } from '../engines/engine.ts'

/** What taking the lock gave: rows, or the database's answer when it was not a grant. */
export interface Grant {
  readonly refused?: Answer
  readonly rows: readonly Row[]
}

/**
 * Takes a lock by sending a plan's statements, one after another, with no other logic: what happens then is what the
 * statements mean on this engine.
 */
export async function takeLock(session: EngineSession, plan: Plan): Promise<Grant> {
  for (const statement of plan.needs) await session.run(statement)
  const before = await lockStatements(session, plan, plan.beforeBegin)
  if (before.refused !== undefined) return before
  if (plan.atOnce !== undefined) return lockStatements(session, plan, statementsAtOnce(plan.atOnce))
  await session.begin(plan.begin)
  const { query } = plan
  const touch = query?.style === 'touch' ? [query.touch] : []
  const read = query?.read === undefined ? [] : [query.read]
  return lockStatements(session, plan, [...plan.inTransaction, ...touch, ...read])
}

export async function endLock(
  session: EngineSession,
  plan: Plan,
  how: 'commit' | 'rollback' = 'commit',
): Promise<void> {
  await session[how]()
  for (const statement of plan.afterEnd) await session.run(statement)
}

/** The same plan with the lock taken out of it: what is left reads the same rows in a plain transaction. */
export function withoutLock({ begin: _, atOnce: __, setting: ___, query, ...plan }: Plan): Plan {
  const bare: Plan = { ...plan, needs: [], beforeBegin: [], inTransaction: [], afterEnd: [] }
  return query?.read === undefined
    ? bare
    : { ...bare, query: { style: 'covered', read: plainRead(query) } as QueryLock }
}

function plainRead(query: QueryLock): Statement {
  const { read } = query
  if (read === undefined) throw new Error('a plan without a read')
  if (!isSql(read)) return read
  if (query.style === 'clause') return { ...read, sql: read.sql.replace(` ${query.clause}`, '') }
  if (query.style === 'table-hint')
    return { ...read, sql: read.sql.replace(` WITH (${query.hints.join(', ')})`, '') }
  return read
}

async function lockStatements(
  session: EngineSession,
  plan: Plan,
  statements: readonly Statement[],
): Promise<Grant> {
  if (statements.length === 0) return { rows: [] }
  const { setting } = plan
  const saved = setting?.read && (await session.run(setting.read))[0]?.['saved']
  if (setting !== undefined) await session.run(setting.apply)
  let rows: readonly Row[] = []
  for (const statement of statements) {
    rows = await session.run(statement)
    const answer = statement.answers && readAnswer(statement.answers, rows)
    if (answer !== undefined && answer !== 'granted') return { refused: answer, rows }
  }
  if (setting !== undefined) await session.run(restoreStatement(setting, saved))
  return { rows }
}
