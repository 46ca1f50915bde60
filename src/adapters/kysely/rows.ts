import { LockUsageError } from '../../core/errors.ts'
import type { LockMode, RowRequest, Strength } from '../../core/request.ts'
import type { Row, SqlStatement, Value } from '../../core/statement.ts'

/** What is used of Kysely's builder of a SELECT whose rows are of type `O`. */
export interface KyselySelect<O> {
  execute(): Promise<O[]>
  toOperationNode(): { readonly kind: string }
  forUpdate(of?: never): KyselySelect<O>
  forNoKeyUpdate(of?: never): KyselySelect<O>
  forShare(of?: never): KyselySelect<O>
  forKeyShare(of?: never): KyselySelect<O>
  noWait(): KyselySelect<O>
  skipLocked(): KyselySelect<O>
}

/** What is used of the executor below a Kysely instance. */
export interface KyselyCompiler {
  getExecutor(): {
    compileQuery(
      node: never,
      queryId: never,
    ): { readonly sql: string; readonly parameters: readonly unknown[] }
    executeQuery(query: never, queryId: never): Promise<{ readonly rows: readonly unknown[] }>
  }
}

/** A SELECT that is compiled and locks, ready to run on the transaction's connection. */
export interface CompiledSelect {
  readonly statement: SqlStatement
  readonly run: () => Promise<readonly Row[]>
}

const methods: Readonly<Record<Strength, 'forUpdate' | 'forNoKeyUpdate' | 'forShare' | 'forKeyShare'>> = {
  update: 'forUpdate',
  'no-key-update': 'forNoKeyUpdate',
  share: 'forShare',
  'key-share': 'forKeyShare',
}

const usual: Readonly<Record<LockMode, Strength>> = { exclusive: 'update', shared: 'share' }

/**
 * The query with Kysely's own words for the lock, which the lock plugin then turns into what the server needs.
 *
 * A timeout has no word of Kysely's: it is in the plan that the plugin is told.
 */
export function withLockWords<O>(query: KyselySelect<O>, request: RowRequest): KyselySelect<O> {
  if (typeof query !== 'object' || query === null || !('forUpdate' in query)) throw noSelect(query)
  const { mode = 'exclusive', strength = usual[mode], of, wait } = request
  const locked = query[methods[strength]](...((of === undefined ? [] : [of]) as never[]))
  if (wait === 'nowait') return locked.noWait()
  return wait === 'skip' ? locked.skipLocked() : locked
}

function noSelect(given: unknown): LockUsageError {
  const isTarget = typeof given === 'object' && given !== null && 'table' in given
  const instead = isTarget ? ': { table, key } is for other entries, such as holdfast/pg' : ''
  return new LockUsageError(
    'query',
    `only a SELECT built with selectFrom can lock the rows that it reads${instead}`,
  )
}

/** Compiles the query for the transaction, also when it was built with another instance. */
export function compileFor(tx: KyselyCompiler, node: { readonly kind: string }): CompiledSelect {
  const executor = tx.getExecutor()
  const queryId = { queryId: 'holdfast' } as never
  const compiled = executor.compileQuery(node as never, queryId)
  return {
    statement: { sql: compiled.sql, params: compiled.parameters as readonly Value[] },
    run: async () => (await executor.executeQuery(compiled as never, queryId)).rows as readonly Row[],
  }
}
