import { channel, tracingChannel, type Channel, type TracingChannel } from 'node:diagnostics_channel'

/*
 * Where events are told. A tracing channel is five: `tracing:holdfast:lock:start`, `:end`, `:asyncStart`, `:asyncEnd`
 * and `:error`; each gets the same object, which says more from one to the next.
 */

export const transactionChannel: TracingChannel = tracingChannel('holdfast:transaction')
export const statementChannel: TracingChannel = tracingChannel('holdfast:statement')
/** A transaction is about to be run again. */
export const retryChannel: Channel = channel('holdfast:transaction:retry')
export const lockChannel: TracingChannel = tracingChannel('holdfast:lock')
/** A lock that was granted has ended. */
export const lockEndedChannel: Channel = channel('holdfast:lock:ended')
export const leaseChannel: TracingChannel = tracingChannel('holdfast:lease')
/** A lease that was granted has ended. */
export const leaseEndedChannel: Channel = channel('holdfast:lease:ended')
export const jobChannel: TracingChannel = tracingChannel('holdfast:job')
/** Jobs were claimed. */
export const claimChannel: Channel = channel('holdfast:job:claimed')
