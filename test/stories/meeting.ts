/** A place where a number of workers wait until all of them are there; then it is empty again. */
export interface Meeting {
  readonly meet: () => Promise<void>
  /** Lets everybody go on who is there. */
  readonly open: () => void
}

/** `onFull` runs when the last one comes; without it the meeting opens by itself. */
export function meetingOf(size: number, onFull?: () => void): Meeting {
  let waiting: (() => void)[] = []
  const open = (): void => {
    const all = waiting
    waiting = []
    for (const goOn of all) goOn()
  }
  return {
    meet: () =>
      new Promise((resolve) => {
        waiting.push(resolve)
        if (waiting.length === size) (onFull ?? open)()
      }),
    open,
  }
}
