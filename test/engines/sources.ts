import type { EngineKind, Origin, Source, StartedServer } from './engine.ts'
import { messageOf } from './run-command.ts'

/** A way that did not lead to a server. */
export interface Refusal {
  /** Absent when no way was tried at all. */
  readonly origin?: Origin
  readonly reason: string
}

/** A server, or why each way to one was closed. */
export interface Found {
  readonly started?: StartedServer
  readonly refusals: readonly Refusal[]
}

/**
 * Tries the ways to an engine in their order.
 *
 * `HOLDFAST_ORIGIN=download` (or several, with commas) leaves only those ways; an engine that is part of the test
 * process has just the one and keeps it.
 */
export async function startEngine(
  kind: EngineKind,
  isWanted: (source: Source) => boolean = () => true,
  platform: string = process.platform,
): Promise<Found> {
  const asked = process.env.HOLDFAST_ORIGIN ?? ''
  const only = asked === '' ? undefined : asked.split(',')
  const refusals: Refusal[] = []
  for (const source of kind.sources.filter(isWanted)) {
    const { origin } = source
    if (only !== undefined && origin !== 'embedded' && !only.includes(origin)) {
      refusals.push({ origin, reason: `HOLDFAST_ORIGIN asks for ${only.join(', ')}` })
      continue
    }
    if (runsProcess(origin) && platform !== 'linux') {
      refusals.push({ origin, reason: `servers run as processes of ours on Linux only, not on ${platform}` })
      continue
    }
    try {
      const answer = await source.start()
      if (!('unavailable' in answer)) return { started: answer, refusals }
      refusals.push({ origin, reason: answer.unavailable })
    } catch (error) {
      refusals.push({ origin, reason: messageOf(error) })
      if (origin === 'url') break // whoever names a server wants that one or none
    }
  }
  return { refusals }
}

/** Whether the server is a process of ours. These are watched and ended through what only Linux tells of processes. */
function runsProcess(origin: Origin): boolean {
  return origin === 'installed' || origin === 'download'
}

/** All refusals in one line. */
export function describeRefusals(refusals: readonly Refusal[]): string {
  const parts = refusals.map(({ origin, reason }) => {
    const [firstLine] = reason.split('\n', 1)
    return origin === undefined ? firstLine : `${origin}: ${firstLine}`
  })
  return parts.join('; ')
}
