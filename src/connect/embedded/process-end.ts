const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

const cleanups = new Set<() => void>()

/** Calls `cleanUp` when the process ends, by a signal too, unless it is forgotten before. The last one comes first. */
export function onProcessEnd(cleanUp: () => void): () => void {
  if (cleanups.size === 0) listen()
  cleanups.add(cleanUp)
  return () => {
    if (cleanups.delete(cleanUp) && cleanups.size === 0) deafen()
  }
}

function listen(): void {
  process.on('exit', cleanUpAll)
  // before those that listen only once, which would be gone when we count them
  for (const signal of signals) process.prependListener(signal, hear)
}

function deafen(): void {
  process.off('exit', cleanUpAll)
  for (const signal of signals) process.off(signal, hear)
}

/** Whoever else listens to the signal decides what it means. Otherwise it ends the process, as without us. */
function hear(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return
  cleanUpAll()
  process.kill(process.pid, signal)
}

function cleanUpAll(): void {
  const all = [...cleanups].toReversed()
  cleanups.clear()
  deafen()
  for (const cleanUp of all) {
    try {
      cleanUp()
    } catch {
      // the others are cleaned up all the same
    }
  }
}
