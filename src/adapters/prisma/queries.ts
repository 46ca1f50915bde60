/** A query of Prisma's that the work has made with its `tx`, and that can be asked of another client again. */
export interface NotedQuery {
  readonly tx: object
  readonly ask: (client: object) => unknown
}

type Call = (...args: readonly unknown[]) => object
type Callees = Readonly<Record<PropertyKey, Call>>
type Models = Readonly<Record<PropertyKey, Callees>>

/** Prisma sends nothing before somebody waits for it, so what is made of a query can be decided until then. */
const noted = new WeakMap<object, NotedQuery>()

/** The calls of a client that give a list of rows. */
const lists = new Set<PropertyKey>(['$queryRaw', '$queryRawUnsafe'])

/** Prisma's client of a transaction, and what the work is given in its place. */
export interface Viewed {
  readonly of: object
  readonly view: object
}

/** What stands in place of a property of a client, so that {@link notedQuery} knows the queries made with it. */
export function noteQueries({ of, view: tx }: Viewed, name: PropertyKey, value: unknown): object | undefined {
  if (lists.has(name)) {
    const ask = (client: object, args: readonly unknown[]): object | undefined =>
      (client as Callees)[name]?.(...args)
    return (...args: readonly unknown[]) => note(ask(of, args), { tx, ask: (client) => ask(client, args) })
  }
  if (typeof value !== 'object' || value === null || !('findMany' in value)) return undefined
  const findMany = (args: unknown): object =>
    note((value as Callees).findMany?.(args), {
      tx,
      ask: (client) => (client as Models)[name]?.findMany?.(args),
    })
  return new Proxy(value, {
    get: (model, own) => (own === 'findMany' ? findMany : (Reflect.get(model, own) as unknown)),
  })
}

function note(query: object | undefined, call: NotedQuery): object {
  if (query === undefined) throw new Error('the client has no such call')
  noted.set(query, call)
  return query
}

/** Undefined for what was not made with a `tx` of Holdfast's, and for queries that give no list. */
export function notedQuery(query: object): NotedQuery | undefined {
  return noted.get(query)
}
