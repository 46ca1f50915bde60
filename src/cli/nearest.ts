/** Asks whether the known word was meant that differs least: in a letter or two, or as the beginning of it. */
export function didYouMean(word: string, known: readonly string[]): string {
  const near = known
    .map((one) => ({ one, steps: one.startsWith(word) ? 1 : stepsBetween(word, one) }))
    .filter(({ one, steps }) => steps <= 2 && steps < one.length - 1)
    .toSorted((a, b) => a.steps - b.steps)[0]
  return near === undefined ? '' : `; did you mean ${near.one}?`
}

/** How many letters have to be changed, left out or put in. */
function stepsBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at)
  for (const [line, letter] of from.split('').entries()) {
    const next = [line + 1]
    for (const [at, other] of to.split('').entries()) {
      const changed = (row[at] ?? 0) + (letter === other ? 0 : 1)
      next.push(Math.min(changed, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
