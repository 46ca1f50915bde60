/** A doc comment, taken apart. */
export interface Comment {
  /** What it says, without its tags. */
  readonly says: string
  /** Behind `@default`. */
  readonly default: string | undefined
  /** Behind each `@example`: the words behind the ticks, and the program. */
  readonly examples: readonly string[]
}

/** Takes a comment's text apart. An ordinary comment, which is not for users, says nothing. */
export function commentAbove(value: string): Comment {
  if (!value.startsWith('*')) return { says: '', default: undefined, examples: [] }
  const text = value
    .split('\n')
    .map((line) => line.replace(/^\s*\*+ ?/, '').trimEnd())
    .join('\n')
  const [says = '', ...tags] = text.split(/(?:^|(?<=\s))@(?=default|example)/)
  const behind = (tag: string): readonly string[] =>
    tags.filter((one) => one.startsWith(tag)).map((one) => one.slice(tag.length).trim())
  return { says: says.trim(), default: behind('default')[0], examples: behind('example') }
}
