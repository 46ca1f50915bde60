import type { ErrorLike, ErrorMeaning, ErrorTable } from '../../core/classification.ts'
import { LockUsageError } from '../../core/errors.ts'

/** What a member answered instead of doing what it was asked, or why none did. */
export class EtcdError extends Error {
  override readonly name = 'EtcdError'
  /** The code of gRPC, by which etcd tells its errors apart. */
  readonly code: number

  constructor(code: number, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** https://grpc.io/docs/guides/status-codes/ */
export const grpc = {
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  permissionDenied: 7,
  failedPrecondition: 9,
  aborted: 10,
  unavailable: 14,
  unauthenticated: 16,
} as const

const lost: ErrorMeaning = { kind: 'connection-lost', transaction: 'unknown' }

const codes: Readonly<Record<string, ErrorMeaning>> = {
  [grpc.unavailable]: lost,
  [grpc.deadlineExceeded]: lost,
  // the leader has changed under a request: it may be repeated at once
  [grpc.aborted]: { kind: 'busy', transaction: 'open' },
}

export const errors: ErrorTable = {
  codeOf: ({ name, code }: ErrorLike) => (name === 'EtcdError' ? String(code) : undefined),
  codes,
  otherwise: 'open',
}

/** Whether another member may do what this one did not. */
export function isOfOneMember(error: unknown): error is EtcdError {
  return (
    error instanceof EtcdError && (error.code === grpc.unavailable || error.code === grpc.deadlineExceeded)
  )
}

/** An error of etcd that says what to do, where its own words do not. */
export function explain(error: unknown): unknown {
  if (!(error instanceof EtcdError)) return error
  if (error.code === grpc.permissionDenied)
    return refused(
      error,
      'its user may not read and write the keys of leases: grant it readwrite on the prefix',
    )
  if (error.code === grpc.unauthenticated || /user name is empty/.test(error.message))
    return refused(error, 'etcd wants a user and a password: pass auth')
  return error
}

export function refused(cause: unknown, why: string): LockUsageError {
  return new LockUsageError('auth', why, { cause })
}
