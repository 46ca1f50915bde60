import { posix } from 'node:path'

/** A page of the documentation, from the project's folder on: `docs/matrix.md`. */
export interface DocsPage {
  readonly path: string
  readonly text: string
}

/** What has to have a page, and where. */
export interface WantedPage {
  readonly what: string
  readonly path: string
}

export function missingPages(wanted: readonly WantedPage[], pages: readonly DocsPage[]): readonly string[] {
  return wanted
    .filter(({ path }) => !pages.some((page) => page.path === path))
    .map(({ what, path }) => `${what} has no ${path}`)
}

/** Pages that cannot be reached by links from `start`. */
export function unreachablePages(start: string, pages: readonly DocsPage[]): readonly string[] {
  const reached = new Set<string>()
  const visit = (path: string): void => {
    const page = pages.find((one) => one.path === path)
    if (page === undefined || reached.has(path)) return
    reached.add(path)
    for (const { target } of linksOf(page)) visit(target)
  }
  visit(start)
  return pages
    .filter(({ path }) => !reached.has(path))
    .map(({ path }) => `${path} is not reached from ${start}`)
}

/** Links to pages, or to places on them, that are not there. */
export function brokenLinks(pages: readonly DocsPage[]): readonly string[] {
  const anchors = new Map(pages.map((page) => [page.path, anchorsOf(page)]))
  return pages.flatMap((page) =>
    linksOf(page).flatMap(({ link, target, anchor }) => {
      const found = pages.find(({ path }) => path === target)
      if (found === undefined)
        return target.startsWith('docs/') ? [`${page.path} links to ${link}, which is not there`] : []
      if (anchor === undefined || anchors.get(target)?.has(anchor) === true) return []
      return [`${page.path} links to ${link}, and ${target} has no such heading`]
    }),
  )
}

interface Link {
  readonly link: string
  /** The page, from the project's folder on. */
  readonly target: string
  readonly anchor: string | undefined
}

/** Relative links to Markdown, and to headings of the page itself. */
function linksOf({ path, text }: DocsPage): readonly Link[] {
  const links = Array.from(withoutFences(text).matchAll(/\]\(([^)\s]+)\)/g), ([, link = '']) => link)
  return links
    .filter((link) => !/^[a-z]+:/.test(link) && /^#|\.md(#|$)/.test(link))
    .map((link) => {
      const [file = '', anchor] = link.split('#', 2)
      return { link, target: file === '' ? path : posix.join(posix.dirname(path), file), anchor }
    })
}

/** A second heading of the same words gets a number. */
function anchorsOf({ text }: DocsPage): ReadonlySet<string> {
  const seen = new Map<string, number>()
  const anchors = Array.from(withoutFences(text).matchAll(/^#+ (.+)$/gm), ([, title = '']) => {
    const anchor = slug(title)
    const times = seen.get(anchor) ?? 0
    seen.set(anchor, times + 1)
    return times === 0 ? anchor : `${anchor}-${times}`
  })
  return new Set(anchors)
}

/** As GitHub makes them. */
function slug(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-')
}

function withoutFences(text: string): string {
  return text.replaceAll(/^(`{3,}).*?^\1$/gms, '')
}
