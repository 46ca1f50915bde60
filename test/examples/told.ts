import { readFile } from 'node:fs/promises'

/** A story, and what the README of the examples says that it prints. */
export interface Told {
  readonly story: string
  readonly withLock: string
  readonly withoutLock: string
}

const readme = await readFile(new URL('../../examples/README.md', import.meta.url), 'utf8')

/** Each story has a heading of its own, and below it two blocks: with the lock, and without it. */
export const told: readonly Told[] = readme
  .split(/^## /m)
  .slice(1)
  .flatMap((section) => {
    const story = /^[\w-]+(?=\n)/.exec(section)?.[0]
    const [withLock, withoutLock] = Array.from(
      section.matchAll(/^```text\n(.*?)^```$/gms),
      ([, text = '']) => text,
    )
    return story === undefined || withLock === undefined || withoutLock === undefined
      ? []
      : [{ story, withLock, withoutLock }]
  })
