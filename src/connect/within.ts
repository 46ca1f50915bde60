/** What `work` gives. Rejects with what `late` makes when that takes longer, and then lets `work` go on unheard. */
export async function within<T>(limitMs: number, work: Promise<T>, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), limitMs)
  })
  try {
    return await Promise.race([work, limit])
  } finally {
    clearTimeout(timer)
  }
}

/** Waits for the end of something, however it ends, but not for long. Tells whether it ended. */
export async function atMost(limitMs: number, work: Promise<unknown>): Promise<boolean> {
  return within(
    limitMs,
    work.then(
      () => true,
      () => true,
    ),
    () => new Error('late'),
  ).catch(() => false)
}
