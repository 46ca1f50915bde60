import type { Coordinator } from '../../src/coordinator.ts'

/**
 * What a process does that holds a lease: writes its fence, and, each time that it was stopped for a while and goes on,
 * whether it sees that the lease is lost.
 */
export async function holdOn(coordinator: Coordinator, key: string, ttlMs: number): Promise<void> {
  const lease = await coordinator.lease(key, { ttlMs })
  process.stdout.write(`${lease.fence}\n`)
  let last = performance.now()
  setInterval(() => {
    const now = performance.now()
    if (now - last > 500) process.stdout.write(lease.signal.aborted ? 'lost\n' : 'held\n')
    last = now
  }, 20)
}
