import { LockUsageError } from '../../core/errors.ts'
import type { Isolation } from '../../core/request.ts'
import type { SendRaw } from './raw.ts'
import type { ForgeTraits } from './traits.ts'

/** As the clients spell them. */
export const levelNames: Readonly<Record<Isolation, string>> = {
  'read uncommitted': 'ReadUncommitted',
  'read committed': 'ReadCommitted',
  'repeatable read': 'RepeatableRead',
  serializable: 'Serializable',
  snapshot: 'Snapshot',
}

/** Refuses a client that does not pass an isolation level on: a lock may depend on it. Looks once for each level. */
export class LevelCheck {
  readonly #trusted = new Set<Isolation>()
  readonly #ask: string | undefined

  constructor({ askLevel }: ForgeTraits) {
    this.#ask = askLevel
  }

  async look(isolation: Isolation | undefined, send: SendRaw): Promise<void> {
    if (isolation === undefined || this.#ask === undefined || this.#trusted.has(isolation)) return
    const [row] = await send(this.#ask)
    const has = String(row?.level)
    if (has !== isolation)
      throw new LockUsageError(
        'isolation',
        `the client was asked for ${isolation}, and has begun with ${has}`,
      )
    this.#trusted.add(isolation)
  }
}
