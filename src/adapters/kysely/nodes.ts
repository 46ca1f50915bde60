/**
 * One piece of a Kysely query.
 *
 * Kysely is an optional peer and is never imported: what is read of its nodes is written down here. The shapes are
 * the same in 0.28 and 0.29.
 */
export interface QueryNode {
  readonly kind: string
  readonly [field: string]: unknown
}

export interface SelectNode extends QueryNode {
  readonly kind: 'SelectQueryNode'
  readonly from?: FromNode
  readonly joins?: readonly JoinNode[]
  readonly endModifiers?: readonly ModifierNode[]
}

export interface FromNode extends QueryNode {
  readonly froms: readonly QueryNode[]
}

export interface JoinNode extends QueryNode {
  readonly joinType: string
  readonly table: QueryNode
  readonly on?: QueryNode
}

/** `modifier` is one of Kysely's own words. With a `rawModifier` beside it, that is what stands in the SQL. */
export interface ModifierNode extends QueryNode {
  readonly modifier?: string
  readonly rawModifier?: QueryNode
  readonly of?: readonly QueryNode[]
}

export interface WithNode extends QueryNode {
  readonly expressions: readonly WithQueryNode[]
  readonly recursive?: boolean
}

export interface WithQueryNode extends QueryNode {
  readonly name: { readonly table: QueryNode }
  readonly expression: QueryNode
}

export interface RawNode extends QueryNode {
  readonly sqlFragments: readonly string[]
  readonly parameters: readonly QueryNode[]
}

export function isSelect(node: QueryNode): node is SelectNode {
  return node.kind === 'SelectQueryNode'
}

export function isRaw(node: QueryNode): node is RawNode {
  return node.kind === 'RawNode'
}

/** SQL text with `node` in front of it. */
export function rawBehind(node: QueryNode, text: string): RawNode {
  return { kind: 'RawNode', sqlFragments: ['', text], parameters: [node] }
}

export function rawText(text: string): RawNode {
  return { kind: 'RawNode', sqlFragments: [text], parameters: [] }
}

/** Whether a node directly inside a node, whatever field it stands in, passes a test. Runs for every query. */
export function someChild(node: QueryNode, test: (child: QueryNode) => boolean): boolean {
  if (holdsValues(node)) return false
  for (const field of Object.keys(node)) {
    const value = node[field]
    if (
      Array.isArray(value) ? value.some((item) => isNode(item) && test(item)) : isNode(value) && test(value)
    )
      return true
  }
  return false
}

type Change = (child: QueryNode, field: string) => QueryNode

/** The node with each node directly inside it replaced; the node itself where nothing changed. */
export function mapChildren<N extends QueryNode>(node: N, change: Change): N {
  if (holdsValues(node)) return node
  let changed: Record<string, unknown> | undefined
  for (const field of Object.keys(node)) {
    const value = mapValue(node[field], field, change)
    if (value !== node[field]) (changed ??= { ...node })[field] = value
  }
  return (changed as N | undefined) ?? node
}

function mapValue(value: unknown, field: string, change: Change): unknown {
  if (isNode(value)) return change(value, field)
  if (!Array.isArray(value)) return value
  const items: readonly unknown[] = value
  const mapped = items.map((item) => (isNode(item) ? change(item, field) : item))
  return mapped.some((item, at) => item !== items[at]) ? mapped : value
}

/** A user's value may look like a node, as a JSON document with a `kind` does. */
function holdsValues({ kind }: QueryNode): boolean {
  return kind === 'ValueNode' || kind === 'PrimitiveValueListNode'
}

function isNode(value: unknown): value is QueryNode {
  return typeof value === 'object' && value !== null && 'kind' in value && typeof value.kind === 'string'
}
