import { visibleLines } from './visible.ts'

/** HTML or XML that is safe to put into a page as it is. A class, so that no text of a report can pass for it. */
export class Markup {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export type MarkupPart = string | number | Markup | undefined | readonly MarkupPart[]

/**
 * A template for HTML and XML: whatever is put into it is escaped, unless it is {@link Markup} itself.
 *
 * Attributes have to stand in double quotes. Control characters are made visible, which also leaves none that XML
 * forbids.
 */
export function markup(strings: TemplateStringsArray, ...parts: readonly MarkupPart[]): Markup {
  return new Markup(
    strings.map((string, index) => `${string}${index < parts.length ? textOf(parts[index]) : ''}`).join(''),
  )
}

function textOf(part: MarkupPart): string {
  if (part === undefined) return ''
  if (part instanceof Markup) return part.text
  if (typeof part === 'number') return String(part)
  if (typeof part === 'string') return escape(part)
  return part.map(textOf).join('')
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Text without markup. */
export function escape(text: string): string {
  return visibleLines(text).replaceAll(/[&<>"']/g, (one) => entities[one] ?? '')
}
