/** While an engine is made. */
export interface Making {
  /** Is told what is being done, in a few words. */
  readonly tell: (words: string) => void
  /** Ends it. */
  readonly signal: AbortSignal | undefined
}
