import { isAtLeast, parseVersion } from '../../src/core/version.ts'
import type { Engine, EngineKind, Server } from '../engines/engine.ts'
import type { Provocations, Provoked, Scenario } from './scenario.ts'
import { makeStage, type Stage } from './stage.ts'

/** Makes the tables that the scenarios play on. */
export async function prepare(engine: Engine, { setUp }: Provocations): Promise<void> {
  const session = await engine.open()
  for (const statement of setUp) await session.run(statement)
  await session.close()
}

/** Plays one scenario on fresh tables, gives what came out to `look`, and closes all its sessions. */
export async function play<T>(
  engine: Engine,
  { provocations, scenario }: { readonly provocations: Provocations; readonly scenario: Scenario },
  look: (provoked: Provoked, stage: Stage) => T | Promise<T>,
): Promise<T> {
  const session = await engine.open()
  for (const statement of provocations.reset) await session.run(statement)
  await session.close()
  const stage = makeStage(engine, provocations)
  try {
    return await look(await scenario.run(stage), stage)
  } finally {
    await stage.close()
  }
}

/** As {@link play}, on a server that nobody else uses. */
export async function playAlone<T>(
  { kind, server }: { readonly kind: EngineKind; readonly server: Server },
  part: { readonly provocations: Provocations; readonly scenario: Scenario },
  look: (provoked: Provoked, stage: Stage) => T | Promise<T>,
): Promise<T> {
  const engine = await kind.connect(server)
  try {
    await prepare(engine, part.provocations)
    return await play(engine, part, look)
  } finally {
    await engine.close()
  }
}

/** Whether a server of this version can play it. */
export function isPlayable({ since }: Scenario, { version }: Server): boolean {
  return since === undefined || isAtLeast(parseVersion(version), parseVersion(since))
}
