import type { OtelMetricOptions } from './api.ts'

/** What a metric is called in here. */
export type MetricId =
  | 'transactionDuration'
  | 'transactionAttempts'
  | 'transactionRetries'
  | 'deadlocks'
  | 'lockWait'
  | 'lockHold'
  | 'lockHeld'
  | 'lockTimeouts'
  | 'lockLost'
  | 'leaseWait'
  | 'leaseHold'
  | 'leaseHeld'
  | 'leaseTimeouts'
  | 'leaseLost'
  | 'queueClaims'
  | 'queueJobs'
  | 'jobDuration'

/** A metric as OpenTelemetry is told of it. */
interface Metric {
  readonly name: string
  readonly type: 'counter' | 'up-down' | 'histogram'
  readonly options: OtelMetricOptions
}

/** The bounds that the conventions have for calls of a database, and two more: a lock may be waited for longer. */
const waits = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60]
/** From a moment to a day. */
const leases = [0.1, 0.5, 1, 5, 10, 30, 60, 300, 600, 1800, 3600, 21_600, 86_400]

function seconds(name: string, description: string, bounds: number[]): Metric {
  const advice = { explicitBucketBoundaries: bounds }
  return { name, type: 'histogram', options: { description, unit: 's', advice } }
}

function count(name: string, unit: string, description: string): Metric {
  return { name, type: 'counter', options: { description, unit: `{${unit}}` } }
}

function held(name: string, unit: string, description: string): Metric {
  return { name, type: 'up-down', options: { description, unit: `{${unit}}` } }
}

/** Every metric that is recorded. */
export const metricList: Readonly<Record<MetricId, Metric>> = {
  transactionDuration: seconds(
    'holdfast.transaction.duration',
    'How long transactions take, from the call to its end, with all attempts.',
    waits,
  ),
  transactionAttempts: {
    name: 'holdfast.transaction.attempts',
    type: 'histogram',
    options: {
      description: 'How often a transaction was begun until it ended.',
      unit: '{attempt}',
      advice: { explicitBucketBoundaries: [1, 2, 3, 4, 5, 10, 20, 50, 100] },
    },
  },
  transactionRetries: count(
    'holdfast.transaction.retries',
    'retry',
    'Transactions that lost an attempt and were run again, by the reason.',
  ),
  deadlocks: count('holdfast.deadlocks', 'deadlock', 'Deadlocks that an attempt has lost to.'),
  lockWait: seconds(
    'holdfast.lock.wait.duration',
    'How long locks are waited for, from the call to the answer.',
    waits,
  ),
  lockHold: seconds('holdfast.lock.hold.duration', 'How long granted locks are held.', waits),
  lockHeld: held('holdfast.lock.held', 'lock', 'Locks that are held now.'),
  lockTimeouts: count('holdfast.lock.timeouts', 'timeout', 'Locks that were not granted in time.'),
  lockLost: count('holdfast.lock.lost', 'lock', 'Locks that ended without being released.'),
  leaseWait: seconds(
    'holdfast.lease.wait.duration',
    'How long leases are waited for, from the call to the answer.',
    waits,
  ),
  leaseHold: seconds('holdfast.lease.hold.duration', 'How long granted leases are held.', leases),
  leaseHeld: held('holdfast.lease.held', 'lease', 'Leases that are held now.'),
  leaseTimeouts: count('holdfast.lease.timeouts', 'timeout', 'Leases that were not granted in time.'),
  leaseLost: count('holdfast.lease.lost', 'lease', 'Leases that ended without being released.'),
  queueClaims: count('holdfast.queue.claims', 'claim', 'Claims of jobs, also those that brought none.'),
  queueJobs: count('holdfast.queue.claimed', 'job', 'Jobs that were claimed.'),
  jobDuration: seconds('holdfast.job.duration', 'How long a worker has a job in hand.', leases),
}
