import { readFile } from 'node:fs/promises'

/** A page as it was built. */
export interface Built {
  /** As in `/dialects/postgres.html`. */
  readonly at: string
  readonly heading: string
  readonly ids: ReadonlySet<string>
  readonly links: readonly string[]
}

export async function readBuilt(dist: URL, at: string): Promise<Built> {
  const html = await readFile(new URL(`.${at}`, dist), 'utf8')
  const [, heading = ''] = /<h1[^>]*>([\s\S]*?)<\/h1>/.exec(html) ?? []
  return {
    at,
    heading: textOf(heading.replaceAll(/<[^>]*>/g, '')),
    ids: new Set(Array.from(html.matchAll(/<[^>]* id="([^"]*)"/g), ([, id = '']) => textOf(id))),
    links: Array.from(html.matchAll(/<a [^>]*?href="([^"]*)"/g), ([, href = '']) => textOf(href)),
  }
}

const characters: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' }

function textOf(html: string): string {
  return html.replaceAll(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => characters[name] ?? '')
}

/** Links between the pages that lead to no page, or to no place on one. The world outside cannot be promised. */
export function wrongLinks(pages: readonly Built[]): readonly string[] {
  const ids = new Map(pages.map((page) => [page.at, page.ids]))
  const site = 'http://site.invalid'
  const wrong = pages.flatMap(({ at, links }) =>
    links.flatMap((link) => {
      const { origin, pathname, hash } = new URL(link, site + at)
      if (origin !== site) return []
      const place = pathname.endsWith('/') ? `${pathname}index.html` : pathname
      const there = ids.get(place)
      if (there === undefined) return [`${at} leads to ${place}, which is no page`]
      if (hash === '' || there.has(decodeURIComponent(hash.slice(1)))) return []
      return [`${at} leads to ${place}${hash}, which is no place on it`]
    }),
  )
  return [...new Set(wrong)]
}
