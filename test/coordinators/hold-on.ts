import type { Coordinator } from '../../src/coordinator.ts'

/**
 * What a process does that holds a lease: writes its fence, and, each time that it was stopped and goes on, whether it
 * sees that the lease is lost.
 */
export async function holdOn(coordinator: Coordinator, key: string, ttlMs: number): Promise<void> {
  const lease = await coordinator.lease(key, { ttlMs })
  process.on('SIGCONT', () => process.stdout.write(lease.signal.aborted ? 'lost\n' : 'held\n'))
  process.stdout.write(`${lease.fence}\n`)
  setInterval(() => {}, 60_000)
}
