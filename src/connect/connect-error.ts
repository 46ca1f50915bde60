export type ConnectFailure = 'address' | 'driver' | 'unreachable' | 'login' | 'rights'

/** Why an address leads nowhere, in words that hold no secret. */
export class ConnectError extends Error {
  override readonly name = 'ConnectError'
  readonly failure: ConnectFailure

  constructor(failure: ConnectFailure, message: string, options?: ErrorOptions) {
    super(message, options)
    this.failure = failure
  }
}
