import { findArchitecture, type Machine } from './architecture.ts'
import type { EngineKind, Origin } from './engine.ts'
import { engineNames, loadEngine } from './engine-list.ts'

/** The word by which `HOLDFAST_REQUIRE` asks for all engines that this machine can have. */
export const OBTAINABLE = 'obtainable'

/** The engines that a machine can have with nothing given and nothing installed but what npm installs. */
export async function obtainableEngines(machine: Machine = process): Promise<readonly string[]> {
  const names = await engineNames()
  const verdicts = await Promise.all(
    names.map(async (name) => {
      const kind = await loadEngine(name).catch(() => undefined)
      return kind === undefined || isObtainable(kind, machine) // what does not load is missed when it does not start
    }),
  )
  return names.filter((_, index) => verdicts[index])
}

/** Whether it comes with its npm package, or can be downloaded for this architecture. */
export function isObtainable({ sources }: Pick<EngineKind, 'sources'>, machine: Machine): boolean {
  const canDownload = findArchitecture(machine) !== undefined
  const isOpen = (origin: Origin): boolean => origin === 'embedded' || (origin === 'download' && canDownload)
  return sources.some(({ origin }) => isOpen(origin))
}
