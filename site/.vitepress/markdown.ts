import type { MarkdownEnv, MarkdownRenderer } from 'vitepress'

import { registry } from '../../src/registry.ts'

const titles = new Map(Object.values(registry).map(({ name, title }): [string, string] => [name, title]))

/** Changes of the pages that only the site needs: in an editor they are read as they are. */
export function forSite(md: MarkdownRenderer): void {
  md.core.ruler.after('normalize', 'holdfast-tabs', (state) => {
    state.src = withTabs(state.src)
  })
  md.core.ruler.push('holdfast-home', (state) => {
    const { relativePath } = state.env as { readonly relativePath?: string }
    // the first page has its title in the large letters above
    if (relativePath === 'index.md' && state.tokens[0]?.tag === 'h1') state.tokens.splice(0, 3)
  })
}

/** A page as the search reads it: colours would be worked out a second time, and nobody sees them there. */
export function forSearch(text: string, env: MarkdownEnv, md: MarkdownRenderer): string {
  return md.render(text.replaceAll(/^```\w.*$/gm, '```txt'), env)
}

const block = /```(?:ts|sql|json) [^\n]*\n(?:(?!```)[^\n]*\n)*?```\n/.source
const run = new RegExp(`(?<=^|\\n)${block}(?:\\n${block})+`, 'g')

/** Blocks that follow each other, in one language and each for other databases, become tabs. */
export function withTabs(text: string): string {
  return text.replaceAll(run, (blocks) => {
    const all = blocks.trimEnd().split(/\n\n(?=```)/)
    const heads = all.map((one) => one.slice(0, one.indexOf('\n')))
    const labels = heads.map(labelOf)
    const isAlternative =
      new Set(heads.map((head) => head.split(' ')[0])).size === 1 &&
      !heads.some((head) => head.includes('setup')) &&
      labels.every((label) => label !== '')
    if (!isAlternative) return blocks
    const tabs = all.map((one, at) => one.replace('\n', ` [${labels[at]}]\n`))
    return `::: code-group\n\n${tabs.join('\n\n')}\n\n:::\n`
  })
}

/** The databases that stand behind the ticks. */
function labelOf(head: string): string {
  return head
    .split(' ')
    .flatMap((word) => titles.get(word) ?? [])
    .join(', ')
}
