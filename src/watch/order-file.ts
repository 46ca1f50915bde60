import { readFileSync, writeFileSync } from 'node:fs'

import type { OrderEdge, OrderGraph } from './order-graph.ts'

/** An order of locks as it stands in a file. */
interface OrderFile {
  readonly holdfastOrder: 1
  /** Whether there was more than could be kept. */
  readonly isFull: boolean
  readonly edges: readonly OrderEdge[]
}

/** At once, because a process that ends waits for nobody. */
export function writeOrder(file: string, graph: OrderGraph): void {
  const content: OrderFile = { holdfastOrder: 1, isFull: graph.isFull, edges: [...graph.edges()] }
  writeFileSync(file, `${JSON.stringify(content, undefined, 1)}\n`)
}

/** Throws what is wrong with the file. */
export function readOrder(file: string): Pick<OrderFile, 'edges' | 'isFull'> {
  const content: unknown = JSON.parse(readFileSync(file, 'utf8'))
  if (!isOrder(content)) throw new Error('was not written by watchOrder of this version')
  return content
}

function isOrder(content: unknown): content is OrderFile {
  const { holdfastOrder, edges } = (content ?? {}) as Partial<OrderFile>
  return holdfastOrder === 1 && Array.isArray(edges) && edges.every(isEdge)
}

function isEdge(edge: unknown): edge is OrderEdge {
  const { from, to, fromMode, toMode, gates } = (edge ?? {}) as Partial<OrderEdge>
  return [from, to, fromMode, toMode].every((field) => typeof field === 'string') && Array.isArray(gates)
}
