import { setTimeout as pause } from 'node:timers/promises'

import type { Engine } from '../engines/engine.ts'
import type { Tongue } from './tongue.ts'

/** Another transaction, which holds row 2 and takes row 1 as soon as the body has that: a deadlock, where both insist. */
export interface Rival {
  readonly tell: (what: 'has' | 'wants', row: number) => void
  readonly end: () => Promise<void>
}

export const noRival: Rival = { tell: () => {}, end: async () => {} }

/** How long it stays when the body wants its row, and has nothing that it wants itself. */
const stayMs = 20

export async function startRival(engine: Engine, { bump, rivalMode }: Tongue): Promise<Rival> {
  const session = await engine.open()
  await session.begin(rivalMode)
  // MySQL and MariaDB end the one of two that has changed less: let that be the body
  for (let times = 0; times < 8; times += 1) await session.run(bump(2))
  let go: (isWanted: boolean) => void = () => {}
  const called = new Promise<boolean>((resolve) => (go = resolve))
  const rest = (async () => {
    // where a row is the whole database, nobody gets as far as having one
    const isWanted = await Promise.race([called, pause(stayMs, false)])
    if (isWanted) await session.run(bump(1))
    await session.commit()
  })()
    .catch(() => session.rollback().catch(() => {}))
    .finally(() => session.close().catch(() => {}))
  return {
    tell: (what, row) => what === 'has' && row === 1 && go(true),
    end: async () => {
      go(false)
      await rest
    },
  }
}
