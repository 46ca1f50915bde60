import { escape } from './markup.ts'
import { visible, visibleLines } from './visible.ts'

/**
 * Text of others inside of a line of GitHub's Markdown, where it is nothing but text: no markup, no HTML, no end of a
 * table's cell, no link, and nobody is mentioned by it.
 */
export function inline(text: string): string {
  return visible(text)
    .replaceAll(
      /[\\`*_[\]|~$]|:(?=\/\/)|(?<=www)\.|(?<=^\s*)[-+=#]|(?<=^\s*\d+)[.)](?=\s|$)/gi,
      String.raw`\$&`,
    )
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll(/[@#](?=\w)/g, '$&&#8203;')
}

/** The same inside of a block of HTML, where Markdown is not read. */
export function inHtml(text: string): string {
  return escape(visible(text)).replaceAll(/(?:@|(?<!&)#)(?=\w)/g, '$&&#8203;')
}

/** A block that is shown letter by letter. Its fence is longer than any in the text. */
export function fenced(text: string): string {
  const shown = visibleLines(text)
  const longest = Math.max(2, ...[...shown.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}text\n${shown}\n${fence}`
}

/** A table whose cells are Markdown already. */
export function markdownTable(rows: readonly (readonly string[])[]): string {
  const [head = [], ...body] = rows
  return [head, head.map(() => '---'), ...body].map((row) => `| ${row.join(' | ')} |`).join('\n')
}
