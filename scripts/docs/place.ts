/** Where a generated part is written, and where it looks. */
export interface Place {
  /** The page from the folder on, as in `docs/matrix.md`. */
  readonly page: string
  /** The folder with README.md and docs/: the project, or a copy of its pages. */
  readonly folder: URL
}

/** Writes one kind of part. Throws, with words for whoever wrote the page, when the arguments make no sense. */
export type Generator = (args: readonly string[], place: Place) => string | Promise<string>

export const project: URL = new URL('../../', import.meta.url)

/** For parts that have only one form. */
export function noArguments(args: readonly string[]): void {
  if (args.length > 0) throw new Error(`takes no arguments, and here is ${args.join(' ')}`)
}
