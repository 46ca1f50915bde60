import { readdir, readFile, writeFile } from 'node:fs/promises'

import { generators } from './generators.ts'
import { fillRegions } from './regions.ts'

/** A page as it is, and as the code says that it should be. */
export interface Page {
  /** From the folder on, as in `docs/matrix.md`. */
  readonly page: string
  readonly text: string
  readonly wanted: string
}

/** All pages of a folder that may have generated parts. */
async function pagesIn(folder: URL): Promise<readonly string[]> {
  const docs = await readdir(new URL('docs/', folder), { recursive: true })
  const pages = docs
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name.replaceAll('\\', '/')}`)
  const named = ['README.md', 'CONTRIBUTING.md', 'llms.txt']
  const own = (await readdir(folder)).filter((name) => named.includes(name))
  return [...own, ...pages].toSorted()
}

/** Writes nothing. Throws where a page asks for a part that nobody can write. */
export async function generatePages(folder: URL): Promise<readonly Page[]> {
  const pages: Page[] = []
  for (const page of await pagesIn(folder)) {
    const text = await readFile(new URL(page, folder), 'utf8')
    const wanted = await fillRegions(page, text, ({ name, args, line }) =>
      generate({ name, args, at: `${page}:${line}` }, { page, folder }),
    )
    pages.push({ page, text, wanted })
  }
  return pages
}

/** The pages that are not what the code says. */
export async function driftedPages(folder: URL): Promise<readonly Page[]> {
  return (await generatePages(folder)).filter(({ text, wanted }) => text !== wanted)
}

/** Writes the pages that are not what the code says, and gives their names. */
export async function writePages(folder: URL): Promise<readonly string[]> {
  const drifted = await driftedPages(folder)
  for (const { page, wanted } of drifted) await writeFile(new URL(page, folder), wanted)
  return drifted.map(({ page }) => page)
}

interface Order {
  readonly name: string
  readonly args: readonly string[]
  readonly at: string
}

async function generate(
  { name, args, at }: Order,
  place: Parameters<(typeof generators)[string]>[1],
): Promise<string> {
  const generator = Object.hasOwn(generators, name) ? generators[name] : undefined
  if (generator === undefined) {
    throw new Error(`${at}: nothing is called ${name}; there are ${Object.keys(generators).join(', ')}`)
  }
  try {
    return await generator(args, place)
  } catch (error) {
    throw new Error(`${at}: ${name}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    })
  }
}
