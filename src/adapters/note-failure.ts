/** Work that goes on after each error must not fill the memory with them. */
const mostKept = 100

/** Keeps an error: of very many, the first ones and the newest. */
export function noteFailure(failures: unknown[], error: unknown): void {
  failures[Math.min(failures.length, mostKept - 1)] = error
}

/** The texts of a transaction tell which of its locks another has waited for; of thousands, these say enough. */
const mostTexts = 20

/** Keeps a text: of very many, the first ones and the newest. */
export function noteText(texts: string[], text: string): void {
  texts[Math.min(texts.length, mostTexts - 1)] = text
}
