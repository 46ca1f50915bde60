/** Work that goes on after each error must not fill the memory with them. */
const mostKept = 100

/** Keeps an error: of very many, the first ones and the newest. */
export function noteFailure(failures: unknown[], error: unknown): void {
  failures[Math.min(failures.length, mostKept - 1)] = error
}
