import {
  expressionBuilder,
  sql,
  type Compilable,
  type JoinBuilder,
  type Kysely,
  type SelectQueryBuilder,
} from 'kysely'

import type { RandomSelect, RandomStatement } from './random-query.ts'

/** Tables `t0`, `t1` ... that all look the same. */
export type ManyTables = Record<string, { id: number }>

export const tableCount = 16

/** One SELECT that asks for a lock: its own tables, and how it waits. */
export interface AskedFor {
  readonly tables: readonly string[]
  readonly wait: RandomSelect['wait']
}

export interface Built {
  readonly query: Compilable & { readonly execute: () => Promise<unknown> }
  readonly asked: readonly AskedFor[]
}

interface Join {
  readonly type: 'innerJoin' | 'leftJoin' | 'rightJoin'
  readonly source: never
  readonly alias: string
}

// never NULL behind an outer join, so that every query gives the row with the lowest number
const idOfX = sql<number>`coalesce(${sql.ref('x.id')}, 1)`.as('id')

type Select = SelectQueryBuilder<ManyTables, string, { id: number }>

/** Builds the statement; undefined when it needs more tables than there are. */
export function build(statement: RandomStatement, db: Kysely<ManyTables>): Built | undefined {
  const builder = new RandomBuilder(db)
  const select = builder.select(
    statement.kind === 'update' ? withoutUnion(statement.query) : statement.query,
    true,
  )
  if (builder.used > tableCount) return undefined
  return { query: rootOf(statement.kind, select, db), asked: builder.asked }
}

function rootOf(kind: RandomStatement['kind'], select: Select, db: Kysely<ManyTables>): Built['query'] {
  if (kind === 'insert') return db.insertInto('sink').columns(['id']).expression(select)
  if (kind === 'update') return db.updateTable('sink').set({ id: 1 }).where('id', 'in', select)
  return select
}

class RandomBuilder {
  used = 0
  readonly asked: AskedFor[] = []
  readonly #db: Kysely<ManyTables>
  #withCount = 0

  constructor(db: Kysely<ManyTables>) {
    this.#db = db
  }

  select(random: RandomSelect, isRoot = false): Select {
    const tables: string[] = []
    // what stands inside of another query is built without plugins by the expression builder, or with them by `db`
    const alone = isRoot || random.isBuiltAlone || random.withQuery !== undefined
    const creator = alone ? this.#db : (expressionBuilder<ManyTables>() as unknown as Kysely<ManyTables>)
    const withName = `w${(this.#withCount += 1)}`
    const from = this.#source(random.source, tables)
    const start =
      random.withQuery === undefined
        ? creator.selectFrom(from)
        : this.#with(random, withName).selectFrom(from)
    let query = this.#parts(start as unknown as Select, random, tables)
    if (random.withQuery?.isRead === true)
      query = this.#join(query, { type: 'innerJoin', source: withName as never, alias: withName })
    return this.#locked(query, random, tables)
  }

  #with({ withQuery }: RandomSelect, name: string): Kysely<ManyTables> {
    if (withQuery === undefined) throw new Error('no WITH query')
    return this.#db.with(name, () => this.select(withQuery.query)) as unknown as Kysely<ManyTables>
  }

  #source(source: 'table' | RandomSelect, tables: string[], alias = 'x'): never {
    if (source !== 'table') return this.select(source).as(alias) as never
    const table = `t${this.used}`
    this.used += 1
    tables.push(table)
    return `${table} as ${alias}` as never
  }

  #parts(start: Select, random: RandomSelect, tables: string[]): Select {
    const { join, condition, column, union, shape } = random
    let query =
      column === undefined ? start : (start.select(this.select(column).as('c')) as unknown as Select)
    query =
      shape === 'aggregate' ? query.select((eb) => eb.fn.min('x.id' as never).as('id')) : query.select(idOfX)
    if (join !== undefined)
      query = this.#join(query, { ...join, alias: 'y', source: this.#source(join.source, tables, 'y') })
    if (condition?.kind === 'exists')
      query = query.where((eb) => eb.exists(this.#condition(condition.query, 'exists')))
    else if (condition !== undefined)
      query = query.where(
        'x.id' as never,
        condition.kind,
        this.#condition(condition.query, condition.kind) as never,
      )
    if (shape === 'distinct') query = query.distinct()
    if (shape === 'groupBy') query = query.groupBy('x.id' as never)
    if (union !== undefined) query = query.unionAll(this.select(union))
    return shape === 'limit' ? query.orderBy('id').limit(1) : query
  }

  #join(query: Select, { type, source, alias }: Join): Select {
    const on = (join: JoinBuilder<ManyTables, string>): JoinBuilder<ManyTables, string> =>
      join.onRef(`${alias}.id` as never, '=', 'x.id' as never)
    if (type === 'leftJoin') return query.leftJoin(source, on as never)
    if (type === 'rightJoin') return query.rightJoin(source, on as never)
    return query.innerJoin(source, on as never)
  }

  /** A condition is met by the first part of a union, and the other one is then not run. */
  #condition(random: RandomSelect, kind: 'exists' | 'in' | '='): Select {
    const query = withoutUnion(random)
    return this.select(kind === '=' ? { ...query, shape: 'limit' } : query)
  }

  #locked(query: Select, { lock, wait, isOfFirst }: RandomSelect, tables: readonly string[]): Select {
    let locked = query
    if (lock !== undefined) {
      const isOf = isOfFirst && tables[0] !== undefined
      locked = isOf ? locked[lock](tables[0]) : locked[lock]()
      this.asked.push({ tables: isOf ? tables.slice(0, 1) : tables, wait })
    }
    if (wait !== undefined) locked = locked[wait]()
    return locked
  }
}

function withoutUnion({ source, join, withQuery, union: _, ...random }: RandomSelect): RandomSelect {
  return {
    ...random,
    source: sourceWithoutUnion(source),
    join: join && { ...join, source: sourceWithoutUnion(join.source) },
    withQuery: withQuery && { ...withQuery, query: withoutUnion(withQuery.query) },
    union: undefined,
  }
}

function sourceWithoutUnion(source: RandomSelect['source']): RandomSelect['source'] {
  return source === 'table' ? source : withoutUnion(source)
}
