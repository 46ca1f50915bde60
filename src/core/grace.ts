/**
 * How long a server may still take for an answer that is due, when the limit of the wait is over or the caller has
 * aborted: the server itself ends a wait in time, and its answer has to travel. After that its connection is given up.
 *
 * What is done without any limit of the caller's, such as a ROLLBACK, has this one.
 */
export const graceMs = 5000
