/** Something that others wait for. */
export interface Gate {
  readonly open: () => void
  readonly isOpen: Promise<void>
}

export function createGate(): Gate {
  let open = (): void => {}
  const isOpen = new Promise<void>((resolve) => (open = resolve))
  return { open, isOpen }
}

/** A place that each of `count` parties passes when all of them have come to it. */
export function createMeeting(count: number): () => Promise<void> {
  const { open, isOpen } = createGate()
  let missing = count
  return () => {
    missing -= 1
    if (missing === 0) open()
    return isOpen
  }
}
