import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'

import { peerNames, peerVersion } from './peers.ts'

/** What the figures depend on. Nothing in it names the machine. */
export interface Machine {
  readonly cores: number
  readonly processor: string
  readonly memoryGb: number
  readonly system: string
  readonly node: string
  /** Programs that wanted a core in the last minute before the start: far above 0, others were measured too. */
  readonly loadAtStart: number
  /** Version by engine. */
  readonly engines: Readonly<Record<string, string>>
  readonly peers: Readonly<Record<string, string>>
}

export async function describeMachine(): Promise<Omit<Machine, 'engines'>> {
  const versions = await Promise.all(
    (await peerNames()).map(async (name) => [name, (await peerVersion(name)) ?? 'not installed'] as const),
  )
  return {
    cores: availableParallelism(),
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    memoryGb: Math.round(totalmem() / 2 ** 30),
    system: `${process.platform} ${process.arch}`,
    node: process.versions.node,
    loadAtStart: Number(loadavg()[0]?.toFixed(2)),
    peers: Object.fromEntries(versions),
  }
}
