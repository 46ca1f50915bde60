import type { Engine } from '../engines/engine.ts'

/** Another session that asks whether a row could be had now. */
export interface Probe {
  readonly isFree: (row: number) => Promise<boolean>
  readonly close: () => Promise<void>
}

const locked = (row: number): { readonly sql: string; readonly params: [] } => ({
  sql: `select id from spot where id = ${row} for update nowait`,
  params: [],
})

/** Only where the server refuses at once: a conflict elsewhere shows itself at the end of one of the two. */
export async function openProbe(engine: Engine): Promise<Probe | undefined> {
  const { engine: name } = engine.server
  const isWholeFile = name === 'sqlite'
  if (!isWholeFile && !['postgres', 'mysql', 'mariadb'].includes(name)) return undefined
  const session = await engine.open()
  return {
    isFree: async (row) => {
      try {
        await session.begin(isWholeFile ? 'IMMEDIATE' : undefined)
        if (!isWholeFile) await session.run(locked(row))
        return true
      } catch {
        return false
      } finally {
        await session.rollback().catch(() => {})
      }
    },
    close: () => session.close(),
  }
}
