import { isSql, type Row } from '../../src/core/statement.ts'
import { mustBe, planOf, type ReadClaim } from './claim-reads.ts'

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Index Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Shared Hit Blocks'?: number
  readonly 'Shared Read Blocks'?: number
  readonly Plans?: readonly PlanNode[]
}

/** Rows that the scans of the claim's own plan have read, those that were passed over included. */
export const readPostgresClaim: ReadClaim = async (stage, limit) => {
  const [step] = (await planOf(stage, limit)).steps
  if (step === undefined || typeof step === 'function' || !isSql(step)) throw new Error('not one statement')
  const session = await stage.engine.open()
  try {
    await session.begin()
    const sql = `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${step.sql}`
    const root = planIn(await session.run({ sql, params: step.params }))
    await session.rollback()
    mustBe(limit, root['Actual Rows'])
    const scans = nodesOf(root).filter((node) =>
      /^(Seq|Index|Index Only|Bitmap Heap) Scan$/.test(node['Node Type']),
    )
    const buffers = (root['Shared Hit Blocks'] ?? 0) + (root['Shared Read Blocks'] ?? 0)
    const names = scans.map((node) => `${node['Node Type']} ${node['Index Name'] ?? ''}`.trim())
    return {
      count: scans.reduce((sum, node) => sum + rowsOf(node), 0),
      unit: 'rows',
      plan: `${names.join(', ')}; ${buffers} buffers`,
    }
  } finally {
    await session.close()
  }
}

function planIn([row]: readonly Row[]): PlanNode {
  const [first] = (row?.['QUERY PLAN'] ?? []) as readonly { readonly Plan: PlanNode }[]
  if (first === undefined) throw new Error('no plan')
  return first.Plan
}

function nodesOf(node: PlanNode): readonly PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)]
}

function rowsOf(node: PlanNode): number {
  return (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']
}
