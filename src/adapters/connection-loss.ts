/** Where a driver tells that a connection has broken: of the error, if there is one, or at least of the end. */
export interface LossEvents {
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'end', listener: () => void): unknown
  off(event: 'error', listener: (error: Error) => void): unknown
  off(event: 'end', listener: () => void): unknown
}

/** Tells once that the connection has broken. Gives what stops it. */
export function onLoss(connection: LossEvents, tell: (why: Error) => void): () => void {
  const stop = (): void => {
    connection.off('error', onError)
    connection.off('end', onEnd)
  }
  const onError = (error: Error): void => {
    stop()
    tell(error)
  }
  const onEnd = (): void => onError(new Error('the connection has ended'))
  connection.on('error', onError)
  connection.on('end', onEnd)
  return stop
}
