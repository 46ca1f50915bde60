/**
 * What comes of the shortest of these times that is enough on this machine. An attempt gives undefined when its time was
 * over on the way; whatever else went wrong is what the test is to find.
 */
export async function inEnoughTime<Result>(
  times: readonly number[],
  attempt: (ms: number) => Promise<Result | undefined>,
): Promise<Result> {
  for (const ms of times) {
    const result = await attempt(ms)
    if (result !== undefined) return result
  }
  throw new Error(`${times.at(-1)} ms were not enough`)
}
