import type { Session } from '../../core/session.ts'
import type { Row, Statement } from '../../core/statement.ts'
import type { Dialect } from '../../dialects/dialect.ts'
import type { LeaseStatements } from '../../dialects/lease.ts'
import type { Sabotage } from '../subject.ts'

type Run = Session['run']

/** How a statement is run instead. `run` runs what it is given as it is. */
export type Detour = (run: Run) => Promise<readonly Row[]>

const detours = new WeakMap<Statement, Detour>()

/** The same statement, which is then run in another way by sessions that {@link onDetours | take detours}. */
export function detoured(
  statement: Statement,
  detour: (run: Run, statement: Statement) => ReturnType<Detour>,
): Statement {
  const copy = { ...statement }
  detours.set(copy, (run) => detour(run, statement))
  return copy
}

/** A list of statements of which the last, which answers, is run in another way. */
export function answeredBy(
  statements: readonly Statement[],
  detour: (run: Run, statement: Statement) => ReturnType<Detour>,
): readonly Statement[] {
  const last = statements.at(-1)
  return last === undefined ? [] : [...statements.slice(0, -1), detoured(last, detour)]
}

/** A row that is read as this answer. */
export function rowOf({ answers }: Statement, wanted: 'granted' | 'released'): Row {
  const [value] = Object.entries(answers?.meaning ?? {}).find(([, answer]) => answer === wanted) ?? ['*']
  return { [answers?.column ?? 'answer']: value === '*' ? 1 : value }
}

function onDetours(session: Session<object>): Session<object> {
  const run: Run = (statement) => detours.get(statement)?.(session.run) ?? session.run(statement)
  return Object.create(session, { run: { value: run } }) as Session<object>
}

/** A client whose statements for leases are others. `change` is called anew for each client. */
export function leasesBy(
  does: string,
  change: (lease: LeaseStatements, dialect: Dialect) => Partial<LeaseStatements>,
): Sabotage {
  return {
    does,
    dialect: (dialect) => ({ ...dialect, lease: { ...dialect.lease, ...change(dialect.lease, dialect) } }),
    session: onDetours,
  }
}
