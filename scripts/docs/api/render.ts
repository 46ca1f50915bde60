import { markdownTable } from '../../../src/conformance/reporters/markdown-text.ts'
import { code, prose } from '../markdown.ts'
import type { Linker } from './anchors.ts'
import { exampleFence } from './example.ts'
import type { Entry, Layout } from './layout.ts'
import { basesOf, membersOf, typesIn, type PublicThing } from './public-api.ts'
import { shownMembers } from './members.ts'
import { callOf, isCallable, memberType, outdented, signatureOf } from './signature.ts'
import { commentOf, nameOf, type Declaration, type Node } from './source-file.ts'

/** What is needed to write one page of the reference. */
export interface Writing {
  readonly layout: Layout
  readonly linker: Linker
}

/** One heading of the reference, and all that stands below it. */
export function entryText(entry: Entry, writing: Writing): string {
  const [thing, ...others] = entry.things
  if (thing === undefined) return ''
  if (others.length > 0) return [`### ${entry.name}`, ...manyText(entry, writing)].join('\n\n')
  if (writing.layout.isCalls(thing)) return callsText(thing, writing)
  const { file, comment } = thing
  return blocks([
    `### ${entry.name}`,
    fromText(thing.entries, writing.layout),
    saysText(comment.says, file, writing.linker),
    fence(outdented(signatureOf(thing))),
    membersText(thing, writing),
    ...comment.examples.map((program) => exampleFence(program, thing)),
    seeText(thing, thing.node, writing.linker),
  ])
}

/** Things of one name, one in each of several entries: what each says, and how it is written. */
function manyText({ things }: Entry, { linker }: Writing): readonly string[] {
  return things.map((thing) =>
    blocks([
      `**${thing.entries.map(code).join(', ')}** ${saysText(thing.comment.says, thing.file, linker)}`.trim(),
      fence(outdented(signatureOf(thing))),
      ...thing.comment.examples.map((program) => exampleFence(program, thing)),
    ]),
  )
}

/** An interface whose members are calls: each has a heading of its own. */
function callsText(thing: PublicThing, { linker }: Writing): string {
  const { file, comment } = thing
  const calls = membersOf(thing).map((member) => {
    const own = commentOf(file, member)
    return blocks([
      `### ${nameOf(member.key)}`,
      saysText(own.says, file, linker),
      fence(callOf(file, member)),
      ...own.examples.map((program) => exampleFence(program, thing)),
      seeText(thing, member, linker),
    ])
  })
  return blocks([`## ${thing.name}`, saysText(comment.says, file, linker), ...calls])
}

/** A table of the members that it declares, and of those that it has from an interface that is not public. */
function membersText(thing: Declaration, { linker, layout }: Writing): string {
  if (isCallable(thing.node)) return ''
  const rows = shownMembers(thing, layout.isPublic).map(({ file, member }) => {
    const { says, default: otherwise = '' } = commentOf(file, member)
    const mark = member.optional === true ? '?' : ''
    return [
      code(`${keyOf(member)}${mark}`),
      code(memberType(file, member)),
      otherwise === '' ? '' : defaultText(otherwise),
      saysText(says, file, linker).replaceAll(/\s*\n\s*/g, ' '),
    ]
  })
  const hasDefaults = rows.some(([, , otherwise]) => otherwise !== '')
  const table = [['field', 'type', 'default', 'what it is'], ...rows]
  const shown = hasDefaults ? table : table.map((row) => row.filter((_, column) => column !== 2))
  const bases = basesOf(thing).flatMap(({ node }) => {
    const link = linker.publicLink(thing.file, nameOf(node.expression) ?? '')
    return link === undefined ? [] : [link]
  })
  return blocks([
    rows.length === 0 ? '' : markdownTable(shown),
    bases.length === 0 ? '' : `Also has what ${bases.join(' and ')} ${bases.length > 1 ? 'have' : 'has'}.`,
  ])
}

function keyOf({ key }: Node): string {
  const { value } = key as { readonly value?: string }
  return nameOf(key) ?? value ?? ''
}

/** A value as code, and words as words. */
function defaultText(text: string): string {
  const line = text.replaceAll(/\s*\n\s*/g, ' ')
  return /^(?:'[^']*'|[\d_]+|true|false|[\w.]+)$/.test(line) ? code(line) : prose(line)
}

/** What a comment says, with its links: paragraphs stay paragraphs. */
function saysText(says: string, file: string, { linked }: Linker): string {
  return says
    .split(/(\{@link \w+\}|\*\*[^*]+\*\*)/)
    .map((piece) => {
      const [, name] = /^\{@link (\w+)\}$/.exec(piece) ?? []
      if (name !== undefined) return linked(file, name)
      return piece.startsWith('**') ? piece : prose(piece)
    })
    .join('')
}

/** Where else it comes from than the page says. */
function fromText(entries: readonly string[], { adapters }: Layout): string {
  if (entries.length < 2) return ''
  const isEverywhere = adapters.every((adapter) => entries.includes(adapter))
  const rest = isEverywhere ? entries.filter((entry) => !adapters.includes(entry)) : entries
  const named = [...rest.map(code), ...(isEverywhere ? ['every adapter'] : [])]
  return `From ${named.join(', ')}.`
}

/** The public types that its text mentions, as links. */
function seeText({ file, name }: Declaration, node: Node, { publicLink }: Linker): string {
  const links = typesIn(node)
    .filter((one) => one !== name)
    .flatMap((one) => publicLink(file, one) ?? [])
  return links.length === 0 ? '' : `Types: ${links.join(', ')}`
}

function fence(text: string): string {
  return `\`\`\`ts\n${text}\n\`\`\``
}

function blocks(texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n\n')
}
