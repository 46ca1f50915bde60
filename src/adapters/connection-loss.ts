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

/** Whether a connection has broken while somebody uses it. */
export interface LossWatch {
  /** Tells once that the connection has broken, also when that was before. Gives what stops it. */
  readonly onLost: (tell: (why: Error) => void) => () => void
  readonly whyLost: () => Error | undefined
  readonly stop: () => void
}

/**
 * Notes the error of a connection until it is stopped: whoever asks comes later than that, and most never ask.
 *
 * A connection that breaks while nothing runs on it tells only its listeners; without one, that ends the process.
 */
export function watchLoss(connection: LossEvents): LossWatch {
  let lost: Error | undefined
  const note = (error: Error): void => {
    lost ??= error
  }
  connection.on('error', note)
  return {
    onLost: (tell) => {
      if (lost === undefined) return onLoss(connection, tell)
      tell(lost)
      return () => {}
    },
    whyLost: () => lost,
    stop: () => void connection.off('error', note),
  }
}
