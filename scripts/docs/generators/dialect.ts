import { categories, categoryMeaning, type Category } from '../../../src/core/category.ts'
import { markdownTable } from '../../../src/conformance/reporters/markdown-text.ts'
import type { Dialect } from '../../../src/dialects/dialect.ts'
import { findDialect, type DialectName } from '../../../src/registry.ts'
import { explained, sent, type Explained } from '../explained.ts'
import { code, prose, sentence } from '../markdown.ts'
import type { Generator } from '../place.ts'

/** All that one dialect makes of every category: what it is, who waits, what is sent. */
export const dialect: Generator = ([name = '', ...rest]) => {
  if (rest.length > 0) throw new Error('takes one dialect')
  const one = findDialect(name as DialectName)
  const server = `${one.title} ${one.versions.assumed}`
  return [
    `${one.title} ${one.versions.oldest} and newer. What follows is for ${server}.`,
    overview(one),
    `What is sent for the row 7 of \`account\`, the advisory lock \`['report', 7]\` and a wait of 2000 ms:`,
    groupsOf(one).map(showGroup).join('\n'),
    olderServers(one),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

function overview(one: Dialect): string {
  const rows = categories.map((category) => {
    const { support, waits, isRefused } = explained(one, category)
    return [code(category), prose(categoryMeaning[category]), support, isRefused ? '' : prose(waits ?? '')]
  })
  return markdownTable([['lock', 'meaning', 'support here', 'who waits'], ...rows])
}

interface Group {
  readonly categories: readonly Category[]
  readonly explained: Explained
}

/** Categories for which the same is sent. */
function groupsOf(one: Dialect): readonly Group[] {
  const groups = new Map<string, Group>()
  for (const category of categories) {
    const found = explained(one, category)
    const { waits: _, ...same } = found
    const key = JSON.stringify(same)
    const before = groups.get(key)?.categories ?? []
    groups.set(key, { categories: [...before, category], explained: found })
  }
  return [...groups.values()]
}

function showGroup({ categories: names, explained: found }: Group): string {
  const title = `- ${names.map(code).join(', ')}`
  if (found.isRefused) {
    return `${title}: refused. ${prose(sentence(found.why))} Instead: ${prose(found.instead)}.`
  }
  const note = found.note === undefined ? '' : ` ${prose(sentence(found.note))}`
  // the whole statement says where the clause or the hints go
  const isWhole = found.statements.some(({ label }) => label === 'read')
  const lines = found.statements
    .filter(({ label }) => !isWhole || !['clause', 'hints'].includes(label))
    .map(({ label, text }) => `  - ${label}: ${sent(text)}`)
  return [`${title}: ${found.support}.${note}`, ...lines].join('\n')
}

/** What the oldest server gets that Holdfast speaks to, where that is something else. */
function olderServers(one: Dialect): string {
  const { oldest, assumed } = one.versions
  const changed = categories.flatMap((category) => {
    const [old, now] = [oldest, assumed].map((version) => explained({ dialect: one, version }, category))
    if (old === undefined || JSON.stringify(old) === JSON.stringify(now)) return []
    const last = old.statements.find(({ label }) => label === 'read') ?? old.statements[0]
    const what = old.isRefused
      ? `refused. ${prose(sentence(old.why))} Instead: ${prose(old.instead)}.`
      : `${old.support}${old.note === undefined ? '' : ` (${prose(old.note)})`}: ${sent(last?.text ?? '')}`
    return [`- ${code(category)}: ${what}`]
  })
  return changed.length === 0 ? '' : [`On ${one.title} ${oldest} these differ:`, '', ...changed].join('\n')
}
