import { posix } from 'node:path'

import { listPages, type ListedPage } from '../page-list.ts'
import { noArguments, type Generator } from '../place.ts'

/** The index of all pages, with links from the page that has it. */
export const pages: Generator = async (args, { page, folder }) => {
  noArguments(args)
  const here = posix.dirname(page)
  const line = ({ path, title, summary }: ListedPage): string =>
    `- [${title}](${posix.relative(here, path)})${summary === '' ? '' : `: ${summary}`}`
  const chapters = (await listPages(folder))
    .map(({ title, pages: listed }) => ({ title, listed: listed.filter(({ path }) => path !== page) }))
    .filter(({ listed }) => listed.length > 0)
  return chapters.map(({ title, listed }) => `**${title}**\n\n${listed.map(line).join('\n')}`).join('\n\n')
}
