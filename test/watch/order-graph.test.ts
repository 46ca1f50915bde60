import { expect, test } from 'vitest'

import { OrderGraph, type OrderCycle } from '../../src/watch/order-graph.ts'
import { OrderHolder } from '../../src/watch/order-holder.ts'

const account = (id: number) =>
  ({ kind: 'table account', which: `id=${id}`, by: 'id', mode: 'exclusive', place: undefined }) as const

/** A transaction that takes these rows in this order. Gives the cycles that it closes. */
function takes(graph: OrderGraph, ids: readonly number[]): readonly OrderCycle[] {
  const holder = new OrderHolder(undefined)
  return ids.flatMap((id) => {
    const cycles = holder.edgesTo(account(id)).flatMap((edge) => [graph.add(edge) ?? []])
    holder.hold({}, account(id))
    return cycles.filter(({ length }) => length > 0)
  })
}

const range = (most: number): readonly number[] => Array.from({ length: most }, (_, place) => place)

test('transfers between many accounts, always the smaller first, end in time and are right', () => {
  const graph = new OrderGraph()
  const all = range(100).flatMap((from) => range(100).map((to) => [from, to] as const))
  for (const pair of all.filter(([from, to]) => from < to).toReversed())
    expect(takes(graph, pair)).toEqual([])
  expect(takes(graph, [90, 10])).toHaveLength(1)
})

test('one transaction may write very many rows', () => {
  const graph = new OrderGraph()
  expect(takes(graph, range(400))).toEqual([])
  expect(takes(graph, [2, 1])).toHaveLength(1)
})

test('a way without gates counts, however many with gates there were before', () => {
  const graph = new OrderGraph()
  const edge = {
    from: 'table stock',
    to: 'table orders',
    fromMode: 'exclusive',
    toMode: 'exclusive',
  } as const
  for (const id of range(20)) graph.add({ ...edge, gates: [`name tenant ${id}`] })
  expect(graph.isFull).toBe(true)
  graph.add({ ...edge, gates: [] })
  const back = { ...edge, from: edge.to, to: edge.from }
  expect(graph.add({ ...back, gates: range(20).map((id) => `name tenant ${id}`) })).toHaveLength(2)
})
