import type { Row } from '../core/statement.ts'
import { queueTopic } from './claim.ts'
import { command } from './command.ts'
import type { Memory } from './memory.ts'
import { MemorySession } from './session.ts'

/** Stores rows, all or none. */
export async function addRows(memory: Memory, table: string, rows: readonly Row[]): Promise<void> {
  const session = new MemorySession(memory, () => ({}))
  try {
    await session.begin()
    for (const row of rows) {
      const key = row.id === undefined ? {} : { key: 'id' }
      await session.run(command({ do: 'insert', table, row: { ...row }, ...key }))
    }
    await session.commit()
  } finally {
    await session.release()
  }
  memory.topics.tell(queueTopic({ table }), '')
}

export function storedRows({ tables }: Memory, table: string): readonly Row[] {
  return tables.slotsIn(table).flatMap(({ stored }) => (stored === undefined ? [] : [{ ...stored }]))
}
