import { visible, visibleJson } from '../conformance/reporters/visible.ts'
import { OrderGraph, type OrderCycle, type OrderEdge } from '../watch/order-graph.ts'
import { readOrder } from '../watch/order-file.ts'
import { cycleText, whereOf } from '../watch/order-text.ts'
import { CliUsageError, exitCodes, type Command } from './command.ts'

/** Joins what several processes have seen of the order of locks. */
export const order: Command = {
  name: 'order',
  parameters: '<file...>',
  summary:
    'Join the orders of locks that watchOrder has written, draw them, and fail where they are opposite',
  options: {
    mermaid: { type: 'boolean', summary: 'Draw the graph in the words of Mermaid' },
    json: { type: 'boolean', summary: 'Print JSON' },
  },
  run: ({ positionals, flag }) => {
    if (positionals.length === 0) throw new CliUsageError('order: name the files that watchOrder has written')
    const joined = join(positionals)
    const text = flag('json') ? jsonOf(joined) : flag('mermaid') ? mermaidOf(joined) : textOf(joined)
    return { text: `${text}\n`, exitCode: joined.cycles.length > 0 ? exitCodes.failed : exitCodes.ok }
  },
}

interface Joined {
  readonly edges: readonly OrderEdge[]
  readonly cycles: readonly OrderCycle[]
  /** The files of processes that have seen more than they could keep. */
  readonly full: readonly string[]
}

function join(files: readonly string[]): Joined {
  const graph = new OrderGraph()
  const cycles: OrderCycle[] = []
  const full: string[] = []
  for (const file of files) {
    const { edges, isFull } = read(file)
    if (isFull) full.push(file)
    for (const edge of edges) {
      const cycle = graph.add(edge)
      if (cycle !== undefined) cycles.push(cycle)
    }
  }
  if (graph.isFull) full.push('all of them together')
  return { edges: [...graph.edges()], cycles, full }
}

function read(file: string): ReturnType<typeof readOrder> {
  try {
    return readOrder(file)
  } catch (error) {
    throw new CliUsageError(`order: ${file}: ${(error as Error).message}`)
  }
}

function jsonOf({ edges, cycles, full }: Joined): string {
  return visibleJson({ edges, cycles, full })
}

function textOf({ edges, cycles, full }: Joined): string {
  const froms = [...new Set(edges.map(({ from }) => from))].toSorted()
  const tree = froms.flatMap((from) => branchesOf(from, edges))
  return [
    ...(tree.length === 0 ? ['No lock was asked for while another was held.'] : tree),
    '',
    ...(cycles.length === 0 ? ['No opposite orders.'] : cycles.map(cycleText)),
    ...full.map((file) => `Not everything was kept, so there may be more: ${file}`),
  ]
    .map(visible)
    .join('\n')
}

function branchesOf(from: string, edges: readonly OrderEdge[]): readonly string[] {
  const own = edges.filter((edge) => edge.from === from)
  const branches = own.map((edge) => `  → ${edge.to}${whereOf(edge)}`)
  return [from, ...new Set(branches.toSorted())]
}

function mermaidOf({ edges, cycles }: Joined): string {
  const names = [...new Set(edges.flatMap(({ from, to }) => [from, to]))].toSorted()
  const id = (name: string): string => `n${names.indexOf(name)}`
  const red = new Set(cycles.flat().map(({ from, to }) => `${id(from)} --> ${id(to)}`))
  const arrows = [...new Set(edges.map(({ from, to }) => `${id(from)} --> ${id(to)}`))]
  const styles = arrows.flatMap((arrow, place) => (red.has(arrow) ? [`  linkStyle ${place} stroke:red`] : []))
  return [
    'flowchart LR',
    ...names.map((name) => `  ${id(name)}["${quoted(name)}"]`),
    ...arrows.map((arrow) => `  ${arrow}`),
    ...styles,
  ].join('\n')
}

/** Mermaid reads HTML's names of characters. */
function quoted(name: string): string {
  return visible(name).replaceAll(/["#&;<>`]/g, (sign) => `#${sign.codePointAt(0)};`)
}
