import type { Manner } from '../transaction-body.ts'

/** What is used of a `Kysely` instance. */
export interface KyselyInstance extends KyselyExecutor {
  connection(): { execute<T>(work: (db: KyselyInstance) => Promise<T>): Promise<T> }
  withPlugin(plugin: KyselyPluginLike): KyselyInstance
  readonly introspection: object
  getExecutor(): ConnectionProvider & {
    withConnectionProvider(provider: never): { withPlugin(plugin: never): object }
  }
}

export interface ConnectionProvider {
  provideConnection<T>(work: (connection: KyselyConnection) => Promise<T>, ...rest: never[]): Promise<T>
}

export interface KyselyExecutor {
  executeQuery(query: KyselyQuery): Promise<KyselyResult>
  withoutPlugins(): KyselyExecutor
}

/** A connection of Kysely's driver; the methods are those of a driver whose transactions are not statements. */
export interface KyselyConnection {
  executeQuery(query: KyselyQuery): Promise<KyselyResult>
  streamQuery?(query: KyselyQuery, chunkSize?: number): AsyncIterableIterator<KyselyResult>
  beginTransaction?(settings: object): Promise<void>
  commitTransaction?(): Promise<void>
  rollbackTransaction?(): Promise<void>
}

export interface KyselyResult {
  readonly rows: readonly unknown[]
}

/** A plugin as Kysely takes it. */
export interface KyselyPluginLike {
  transformQuery: <N extends { readonly kind: string }>(args: { readonly node: N }) => N
  transformResult: <R>(args: { readonly result: R }) => Promise<R>
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
  /** Of a query of our own; those of the work have none. */
  readonly manner?: Manner
}

export interface Pinned {
  /** Runs everything on the one connection. */
  readonly db: KyselyInstance
  readonly connection: KyselyConnection
  /** Gives the connection back to Kysely's driver. */
  readonly release: () => Promise<void>
}

/** Takes one connection: Kysely lends it for as long as a callback runs, so the callback runs until the release. */
export function pin(db: KyselyInstance): Promise<Pinned> {
  return new Promise((resolve, reject) => {
    const loan: Promise<void> = db.connection().execute(async (lent) => {
      const connection = await lent.getExecutor().provideConnection(async (it) => it)
      await new Promise<void>((end) => {
        const release = async (): Promise<void> => {
          end()
          await loan
        }
        resolve({ db: lent, connection, release })
      })
    })
    loan.catch(reject)
  })
}

export function rawQuery(sql: string, parameters: readonly unknown[], manner: Manner = 'free'): KyselyQuery {
  return {
    sql,
    parameters,
    manner,
    query: { kind: 'RawNode', sqlFragments: [sql], parameters: [] },
    queryId: { queryId: 'holdfast' },
  }
}
