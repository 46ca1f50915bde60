/** Shows on stderr what is measured now, how long it has taken, and how long it took the last time. */
export interface Progress {
  readonly begin: (id: string) => void
  readonly say: (line: string) => void
  /** Takes the last line away, so that results can be printed. */
  readonly end: () => void
}

export interface ProgressOutput {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly write: (text: string) => unknown
}

/** `lastMs` is how long each scenario took the last time, where it is known. */
export function createProgress(
  ids: readonly string[],
  lastMs: ReadonlyMap<string, number>,
  out: ProgressOutput = process.stderr,
): Progress {
  let current: { readonly id: string; readonly since: number } | undefined
  let isShown = false
  const wipe = (): void => {
    if (isShown) out.write('\r\u001B[K')
    isShown = false
  }
  return {
    begin: (id) => {
      current = { id, since: performance.now() }
    },
    say: (line) => {
      const text = `${headOf(current, ids, lastMs)}${line}`
      wipe()
      if (out.isTTY !== true) return void out.write(`${text}\n`)
      // a longer line would wrap, and only its last part be taken away
      out.write(text.slice(0, (out.columns ?? 80) - 1))
      isShown = true
    },
    end: wipe,
  }
}

function headOf(
  current: { readonly id: string; readonly since: number } | undefined,
  ids: readonly string[],
  lastMs: ReadonlyMap<string, number>,
): string {
  if (current === undefined) return 'bench: '
  const { id, since } = current
  const gone = performance.now() - since
  const place = ids.indexOf(id)
  const rest = ids.slice(place).map((one) => lastMs.get(one))
  const isKnown = rest.every((ms) => ms !== undefined)
  const left = isKnown ? rest.reduce((sum, ms) => sum + ms, 0) - gone : undefined
  const time = left === undefined ? clock(gone) : `${clock(gone)}, about ${clock(Math.max(0, left))} left`
  return `[${place + 1}/${ids.length} ${id} ${time}] `
}

/** Minutes and seconds. */
export function clock(ms: number): string {
  const seconds = Math.round(ms / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
