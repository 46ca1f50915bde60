import {
  isRaw,
  isSelect,
  mapChildren,
  rawBehind,
  type JoinNode,
  type QueryNode,
  type SelectNode,
} from './nodes.ts'

/** One thing that a query reads from: a table, a sub-query, or SQL text that is not looked into. */
export interface Source {
  readonly node: QueryNode
  /** The name under which the rest of the query knows it. */
  readonly name: string | undefined
  /** The table's own name, when it is one; a WITH query looks the same. */
  readonly table: TableParts | undefined
  readonly isSubquery: boolean
  /** Whether an outer join may give a row without a row of this source. */
  readonly isOptional: boolean
}

export interface TableParts {
  readonly schema?: string
  readonly name: string
}

/** What a query reads from, in the order of its text. */
export function sourcesOf({ from, joins = [] }: SelectNode): readonly Source[] {
  const froms = from?.froms ?? []
  const optional = optionalNodes(froms, joins)
  return [...froms, ...joins.map(({ table }) => table)].map((node) => readSource(node, optional.has(node)))
}

/** The query with `text` behind some tables. Their nodes keep their kind, so that other plugins still know them. */
export function writeBehind(select: SelectNode, sources: readonly Source[], text: string): SelectNode {
  const write = (node: QueryNode): QueryNode =>
    sources.some((source) => source.node === node) ? behindName(node, text) : node
  return mapChildren(select, (child, field) => {
    if (field === 'from') return mapChildren(child, write)
    return field === 'joins'
      ? mapChildren(child, (part, name) => (name === 'table' ? write(part) : part))
      : child
  })
}

/** Those of a query's sources that an outer join makes optional. A join reaches back to the last comma of FROM. */
export function optionalNodes(
  froms: readonly QueryNode[],
  joins: readonly JoinNode[],
): ReadonlySet<QueryNode> {
  const optional = new Set<QueryNode>()
  const joined = froms.slice(-1)
  for (const join of joins) {
    const side = optionalSide(join)
    if (side === 'left' || side === 'both') joined.forEach((node) => optional.add(node))
    if (side === 'right' || side === 'both') optional.add(join.table)
    joined.push(join.table)
  }
  return optional
}

/** The side of a join that may have no row. A kind of join that is not known counts as a full one. */
export function optionalSide({ joinType }: JoinNode): 'none' | 'left' | 'right' | 'both' {
  return optionalSides.get(joinType) ?? 'both'
}

const optionalSides: ReadonlyMap<string, 'none' | 'left' | 'right'> = new Map([
  ['InnerJoin', 'none'],
  ['CrossJoin', 'none'],
  ['LateralInnerJoin', 'none'],
  ['LateralCrossJoin', 'none'],
  ['CrossApply', 'none'],
  ['Using', 'none'],
  ['LeftJoin', 'right'],
  ['LateralLeftJoin', 'right'],
  ['OuterApply', 'right'],
  ['RightJoin', 'left'],
])

function readSource(node: QueryNode, isOptional: boolean): Source {
  const isAlias = node.kind === 'AliasNode'
  const inner = isAlias ? (node.node as QueryNode) : node
  const table = tableParts(inner)
  const name = isAlias ? identifierOf(node.alias as QueryNode) : table?.name
  return { node, name, table, isSubquery: isSelect(inner), isOptional }
}

/** The name in a table node, also where `sql.table()` stands around it. */
export function tableParts(node: QueryNode): TableParts | undefined {
  if (isRaw(node)) {
    const [inner] = node.parameters
    const isBare = node.parameters.length === 1 && node.sqlFragments.every((text) => text === '')
    return isBare && inner !== undefined ? tableParts(inner) : undefined
  }
  if (node.kind !== 'TableNode') return undefined
  const table = node.table as QueryNode
  // Kysely's schema plugin leaves a bare identifier where `of` names a table
  const name = identifierOf((table.identifier ?? table) as QueryNode)
  const schema = table.schema === undefined ? undefined : identifierOf(table.schema as QueryNode)
  return name === undefined ? undefined : { name, ...(schema !== undefined && { schema }) }
}

/** The text of an identifier, also of one that {@link writeBehind} has been at. */
function identifierOf(node: QueryNode): string | undefined {
  if (node.kind === 'IdentifierNode') return String(node.name)
  const [inner] = isRaw(node) && node.parameters.length === 1 ? node.parameters : []
  return inner?.kind === 'IdentifierNode' ? String(inner.name) : undefined
}

function behindName(node: QueryNode, text: string): QueryNode {
  if (node.kind === 'AliasNode') return { ...node, alias: rawBehind(node.alias as QueryNode, text) }
  if (isRaw(node)) return { ...node, parameters: node.parameters.map((inner) => behindName(inner, text)) }
  const table = node.table as QueryNode
  const identifier = table.identifier as QueryNode
  // the name stays readable: Kysely's schema plugin looks for it here
  return {
    ...node,
    table: { ...table, identifier: { ...rawBehind(identifier, text), name: identifier.name } },
  }
}
