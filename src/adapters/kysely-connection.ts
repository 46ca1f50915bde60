/** What is used of a `Kysely` instance. */
export interface KyselyInstance extends KyselyExecutor {
  connection(): { execute<T>(work: (db: KyselyInstance) => Promise<T>): Promise<T> }
  startTransaction(): KyselyTransactionBuilder
}

export interface KyselyExecutor {
  executeQuery(query: KyselyQuery): Promise<{ readonly rows: readonly unknown[] }>
  withoutPlugins(): KyselyExecutor
}

/** A compiled query, as `CompiledQuery.raw` makes it. */
export interface KyselyQuery {
  readonly sql: string
  readonly parameters: readonly unknown[]
  readonly query: {
    readonly kind: 'RawNode'
    readonly sqlFragments: readonly string[]
    readonly parameters: readonly never[]
  }
  readonly queryId: { readonly queryId: string }
}

export interface KyselyTransactionBuilder {
  setIsolationLevel(level: KyselyIsolation): KyselyTransactionBuilder
  setAccessMode(mode: 'read only' | 'read write'): KyselyTransactionBuilder
  execute(): Promise<KyselyTransaction>
}

export type KyselyIsolation =
  | 'read uncommitted'
  | 'read committed'
  | 'repeatable read'
  | 'serializable'
  | 'snapshot'

export interface KyselyTransaction extends KyselyExecutor {
  commit(): { execute(): Promise<void> }
  rollback(): { execute(): Promise<void> }
}

export interface Pinned {
  /** Runs everything on the one connection. */
  readonly db: KyselyInstance
  /** Gives the connection back to Kysely's driver. */
  readonly release: () => Promise<void>
}

/** Takes one connection: Kysely lends it for as long as a callback runs, so the callback runs until the release. */
export function pin(db: KyselyInstance): Promise<Pinned> {
  return new Promise((resolve, reject) => {
    const loan: Promise<void> = db.connection().execute((connection) => {
      return new Promise<void>((end) => {
        const release = async (): Promise<void> => {
          end()
          await loan
        }
        resolve({ db: connection, release })
      })
    })
    loan.catch(reject)
  })
}

export function rawQuery(sql: string, parameters: readonly unknown[]): KyselyQuery {
  return {
    sql,
    parameters,
    query: { kind: 'RawNode', sqlFragments: [sql], parameters: [] },
    queryId: { queryId: 'holdfast' },
  }
}
