import type { StartedServer } from './engine.ts'

/** Servers that all take writes and keep one another's data, in the order in which they joined. */
export interface Cluster {
  readonly nodes: readonly StartedServer[]
  readonly stop: () => Promise<void>
}

/** Starts one node after the other; `start` is given those that are there. Nothing is left when one of them fails. */
export async function startCluster(
  size: number,
  start: (others: readonly StartedServer[]) => Promise<StartedServer>,
): Promise<Cluster> {
  const nodes: StartedServer[] = []
  // the last first: the one that the others have joined sees all of them leave
  const stop = async (): Promise<void> => {
    for (const node of nodes.toReversed()) await node.stop()
  }
  try {
    while (nodes.length < size) nodes.push(await start(nodes))
  } catch (error) {
    await stop()
    throw error
  }
  return { nodes, stop }
}
