import {
  isRaw,
  isSelect,
  mapChildren,
  type FromNode,
  type JoinNode,
  type QueryNode,
  type SelectNode,
  type WithNode,
  type WithQueryNode,
} from './nodes.ts'
import { optionalNodes, optionalSide, tableParts } from './sources.ts'

/** Why a lock cannot be asked for somewhere: what to change, and the reason. */
type Refusal = readonly [field: string, reason: string]

/** Where in a statement something stands. */
export interface Place {
  /** The WITH queries that can be read from here, by name. */
  readonly withQueries: ReadonlyMap<string, WithQuery>
  /** Why rows that are read here, or anywhere below, might not get their lock. */
  readonly refusal?: Refusal
  /** The same for a SELECT that stands directly here, but not for one below it. */
  readonly ownRefusal?: Refusal
  /** Whether this is inside of another query, which may leave columns of it aside. */
  readonly isNested: boolean
  /** Whether this is inside of what a DELETE asks for. */
  readonly isInDelete?: boolean
  /** Whether a table's name means here that it is read from. */
  readonly isSource: boolean
}

interface WithQuery {
  /** Whether something that certainly runs reads from it. A SELECT in a WITH that nobody reads is never run. */
  isRead: boolean
}

type ChangeSelect = (select: SelectNode, place: Place) => SelectNode

const refusals = {
  definition: [
    'forUpdate',
    'a lock belongs in a query that runs now, not in the definition of a table or view',
  ],
  branch: [
    'union',
    'a part of a set operation cannot be locked: lock in a separate query, or in a subquery in its FROM',
  ],
  optional: [
    'leftJoin',
    'a subquery on the optional side of an outer join may never be run, and then it locks nothing',
  ],
  unusedColumn: [
    'select',
    'a sub-query in the select list or ORDER BY of another sub-query may never be run: put it in FROM or WHERE',
  ],
  unread: [
    'with',
    'nothing that certainly runs reads from this WITH query, so its rows would never be locked (SQL text is not looked into: name the query by sql.table)',
  ],
  recursive: [
    'withRecursive',
    'the rows of a recursive query cannot be locked: select their keys, then lock by key',
  ],
} as const satisfies Readonly<Record<string, Refusal>>

const statements: ReadonlySet<string> = new Set([
  'SelectQueryNode',
  'InsertQueryNode',
  'UpdateQueryNode',
  'DeleteQueryNode',
  'MergeQueryNode',
  'RawNode',
])

/** Where a statement stands that is a query of its own. */
export const outermost: Place = { withQueries: new Map(), isNested: false, isSource: false }

/** The statement with each SELECT in it, at any depth, replaced by what `change` gives, the inner ones first. */
export function changeSelects(root: QueryNode, change: ChangeSelect): QueryNode {
  const place = statements.has(root.kind) ? outermost : { ...outermost, refusal: refusals.definition }
  return visit(root, place, change)
}

function visit(node: QueryNode, place: Place, change: ChangeSelect): QueryNode {
  if (node.kind === 'TableNode') {
    if (place.isSource && place.refusal === undefined) markRead(node, place)
    return node
  }
  if (statements.has(node.kind) && !isRaw(node)) return visitStatement(node, place, change)
  // SQL text may read from what stands in it; the others only pass on what stands in them
  if (isRaw(node)) return mapChildren(node, (child) => visit(child, { ...place, isSource: true }, change))
  const isTransparent = node.kind === 'AliasNode' || node.kind === 'ParensNode' || node.kind === 'ListNode'
  const { ownRefusal: _, ...rest } = place
  const inner = isTransparent ? place : { ...rest, isSource: false }
  return mapChildren(node, (child) => visit(child, inner, change))
}

function markRead(table: QueryNode, { withQueries }: Place): void {
  const { schema, name } = tableParts(table) ?? {}
  const found = schema === undefined && name !== undefined ? withQueries.get(name) : undefined
  if (found !== undefined) found.isRead = true
}

function visitStatement(node: QueryNode, place: Place, change: ChangeSelect): QueryNode {
  const { ownRefusal: _, ...outer } = place
  const { with: withNode, ...body } = node as QueryNode & { readonly with?: WithNode }
  const scope = withScope(withNode, { ...outer, isSource: false })
  // the body first: it tells which of the WITH queries are read
  const visitedBody = visitBody(body, scope.place, change)
  const visited =
    withNode === undefined ? visitedBody : { ...visitedBody, with: visitWith(withNode, scope, change) }
  return isSelect(visited) ? change(visited, { ...place, withQueries: scope.place.withQueries }) : visited
}

interface WithScope {
  /** Where all of the statement's WITH queries can be read. */
  readonly place: Place
  /** Where those before the one at this index can be read. */
  readonly before: (index: number) => Place
  readonly states: readonly WithQuery[]
}

function withScope(withNode: WithNode | undefined, outer: Place): WithScope {
  const named = (withNode?.expressions ?? []).map(
    ({ name }) => [tableParts(name.table)?.name ?? '', { isRead: false }] as const,
  )
  const before = (index: number): Place => ({
    ...outer,
    withQueries: new Map([...outer.withQueries, ...named.slice(0, index)]),
  })
  return { place: before(named.length), before, states: named.map(([, state]) => state) }
}

/** From the last to the first: each is read by those behind it. */
function visitWith(withNode: WithNode, { place, before, states }: WithScope, change: ChangeSelect): WithNode {
  const isRecursive = withNode.recursive === true
  const expressions: WithQueryNode[] = []
  for (const [index, one] of [...withNode.expressions.entries()].toReversed()) {
    const visible = { ...(isRecursive ? place : before(index)), isNested: true }
    const refusal = withRefusal(one, { isRecursive, isRead: states[index]?.isRead === true })
    expressions.unshift({ ...one, expression: visit(one.expression, refuse(visible, refusal), change) })
  }
  return { ...withNode, expressions }
}

/** A WITH query that writes is run to its end whether it is read or not. */
function withRefusal(
  { expression }: WithQueryNode,
  { isRecursive, isRead }: WithQuery & { readonly isRecursive: boolean },
): Refusal | false {
  if (!isSelect(expression)) return false
  if (!isRead) return refusals.unread
  return isRecursive && expression.setOperations !== undefined && refusals.recursive
}

function visitBody(node: QueryNode, place: Place, change: ChangeSelect): QueryNode {
  const { from, joins = [] } = node as { readonly from?: FromNode; readonly joins?: readonly JoinNode[] }
  const optional = optionalNodes(from?.froms ?? [], joins)
  const nested: Place = { ...place, isNested: true }
  const sourcePlace = (source: QueryNode): Place => ({
    ...refuse(nested, optional.has(source) && refusals.optional),
    isSource: true,
  })
  const visitSource = (source: QueryNode): QueryNode => visit(source, sourcePlace(source), change)
  return mapChildren(node, (child, field) => {
    if (field === 'from') return mapChildren(child, visitSource)
    if (field === 'joins' || (field === 'using' && child.kind === 'JoinNode')) {
      const onPlace = refuse(nested, optionalSide(child as JoinNode) !== 'none' && refusals.optional)
      return mapChildren(child, (part, name) =>
        name === 'table' ? visitSource(part) : visit(part, onPlace, change),
      )
    }
    if (field === 'using') return mapChildren(child, visitSource)
    if (field === 'table') return visitSource(child)
    if (field === 'setOperations') return visitBranch(child, place, change)
    if (field === 'values') return visit(child, place, change)
    if (field === 'where' && node.kind === 'DeleteQueryNode')
      return visit(child, { ...nested, isInDelete: true }, change)
    if (field === 'where' || !isSelect(node)) return visit(child, nested, change)
    return visit(child, refuse(nested, place.isNested && refusals.unusedColumn), change)
  })
}

function visitBranch(operation: QueryNode, place: Place, change: ChangeSelect): QueryNode {
  return mapChildren(operation, (branch) => visit(branch, { ...place, ownRefusal: refusals.branch }, change))
}

/** The outermost reason is the one to tell. */
function refuse(place: Place, refusal: Refusal | false): Place {
  return refusal === false || place.refusal !== undefined ? place : { ...place, refusal }
}
