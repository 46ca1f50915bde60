import { readFile } from 'node:fs/promises'

/** A story, and what the README of the examples says that it prints. */
export interface Told {
  readonly story: string
  readonly withLock: string
  readonly withoutLock: string
}

/** Each story has a heading of its own, and below it two blocks: with the lock, and without it. */
export async function toldIn(folder: string): Promise<readonly Told[]> {
  const readme = await readFile(new URL(`../../${folder}/README.md`, import.meta.url), 'utf8')
  return readme.split(/^## /m).slice(1).flatMap(toldBy)
}

function toldBy(section: string): readonly Told[] {
  const story = /^[\w-]+(?=\n)/.exec(section)?.[0]
  const [withLock, withoutLock] = Array.from(
    section.matchAll(/^```text\n(.*?)^```$/gms),
    ([, text = '']) => text,
  )
  return story === undefined || withLock === undefined || withoutLock === undefined
    ? []
    : [{ story, withLock, withoutLock }]
}

/** The stories that are one file each. */
export const told: readonly Told[] = await toldIn('examples')
