import { readdir, readFile } from 'node:fs/promises'

import { pageSummaries } from './page-summaries.ts'

export interface ListedPage {
  /** As in `docs/matrix.md`. */
  readonly path: string
  readonly title: string
  /** What it is for, or its first sentence. */
  readonly summary: string
}

export interface Chapter {
  readonly title: string
  readonly pages: readonly ListedPage[]
}

/**
 * The chapters of the documentation: the pages by name in the order to read them, or all pages of a folder.
 *
 * A page that no chapter names stands in the last one, so that none can be forgotten.
 */
const chapters: readonly { readonly title: string; readonly names: readonly string[] }[] = [
  { title: 'Start', names: ['index', 'getting-started', 'commonjs', 'choosing', 'sample-tables'] },
  {
    title: 'Locks',
    names: [
      'row-locks',
      'table-locks',
      'advisory-locks',
      'batch',
      'leases',
      'semaphores',
      'coordinators',
      'queues',
      'optimistic',
      'nowait',
      'lock-timeouts',
    ],
  },
  {
    title: 'Getting it right',
    names: [
      'phantoms',
      'retry',
      'bodies',
      'lock-ordering',
      'http',
      'poolers',
      'clusters',
      'two-databases',
      'monitoring',
      'board',
      'observability',
      'watch',
      'races',
      'testing',
      'verify',
    ],
  },
  { title: 'Databases', names: ['matrix', 'dialects/'] },
  { title: 'Drivers and query libraries', names: ['adapters/'] },
  { title: 'Coming from something else', names: ['migrating/'] },
  { title: 'Reference', names: ['errors', 'cli', 'speed', 'faq'] },
  {
    title: 'API',
    names: [
      'api/index',
      'api/calls',
      'api/options',
      'api/adapters',
      'api/coordinators',
      'api/functions',
      'api/errors',
      'api/race',
      'api/testing',
      'api/opentelemetry',
      'api/conformance',
      'api/dialects',
    ],
  },
]

/** All pages of a folder, in the order to read them. */
export async function listPages(folder: URL): Promise<readonly Chapter[]> {
  const docs = new URL('docs/', folder)
  const names = (await readdir(docs, { recursive: true }))
    .filter((name) => name.endsWith('.md'))
    .map((name) => name.replaceAll('\\', '/').replace(/\.md$/, ''))
    .toSorted()
  const known = new Set(
    chapters.flatMap((chapter) => chapter.names.flatMap((wanted) => namedBy(wanted, names))),
  )
  const others = { title: 'More', names: names.filter((name) => !known.has(name)) }
  const listed = [...chapters, others].map(async (chapter) => ({
    title: chapter.title,
    pages: await Promise.all(
      chapter.names
        .flatMap((wanted) => namedBy(wanted, names))
        .map(async (name) => {
          const head = headOf(await readFile(new URL(`${name}.md`, docs), 'utf8'))
          return {
            path: `docs/${name}.md`,
            title: head.title,
            summary: pageSummaries[name] ?? head.summary,
          }
        }),
    ),
  }))
  return (await Promise.all(listed)).filter(({ pages }) => pages.length > 0)
}

function namedBy(wanted: string, names: readonly string[]): readonly string[] {
  if (!wanted.endsWith('/')) return names.filter((name) => name === wanted)
  const inside = names.filter((name) => name.startsWith(wanted))
  const index = `${wanted}index`
  return inside.toSorted((a, b) => Number(b === index) - Number(a === index))
}

/** The title of a page, and the first sentence of its first paragraph. */
function headOf(text: string): Omit<ListedPage, 'path'> {
  const title = /^# (.+)$/m.exec(text)?.[1]?.trim() ?? ''
  const paragraph = text
    .slice(text.indexOf(`# ${title}`) + title.length + 2)
    .split(/\n{2,}/)
    .map((block) => block.trim())
    .find((block) => /^[A-Za-z`*"[]/.test(block))
  const line = (paragraph ?? '').replaceAll(/\s*\n\s*/g, ' ')
  const first = /^.*?[.?!](?=\s|$)/.exec(line)?.[0] ?? line
  // a link would be relative to the other page
  return { title, summary: first.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/:$/, '') }
}
