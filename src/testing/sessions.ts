import type { Sessions } from '../core/session.ts'
import type { Memory } from './memory.ts'
import { MemorySession } from './session.ts'

/** Connections to one memory. There are as many as anybody wants. */
export function memorySessions<Tx extends object>(memory: Memory, makeTx: () => Tx): Sessions<Tx> {
  return {
    adapter: 'testing',
    open: async () => new MemorySession(memory, makeTx),
    listen: async (topic, wake) => {
      const stop = memory.topics.listen(topic, wake)
      return async () => stop()
    },
  }
}
