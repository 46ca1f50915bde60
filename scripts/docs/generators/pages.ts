import { posix } from 'node:path'

import { listPages, type ListedPage } from '../page-list.ts'
import { noArguments, type Generator } from '../place.ts'

/** The index of all pages, with links from the page that has it. With `sections` each chapter has a heading of its own. */
export const pages: Generator = async (args, { page, folder }) => {
  const hasSections = args[0] === 'sections'
  noArguments(hasSections ? args.slice(1) : args)
  const here = posix.dirname(page)
  const line = ({ path, title, summary }: ListedPage): string =>
    `- [${title}](${posix.relative(here, path)})${summary === '' ? '' : `: ${summary}`}`
  const chapters = (await listPages(folder))
    .map(({ title, pages: listed }) => ({ title, listed: listed.filter(({ path }) => path !== page) }))
    .filter(({ listed }) => listed.length > 0)
  const head = (title: string): string => (hasSections ? `## ${title}` : `**${title}**`)
  return chapters.map(({ title, listed }) => `${head(title)}\n\n${listed.map(line).join('\n')}`).join('\n\n')
}
