import { painter, type Style } from '../conformance/reporters/paint.ts'
import { shorten, visible } from '../conformance/reporters/visible.ts'

export interface Layout {
  readonly columns: number
  readonly paint: Paint
}

/** What a piece of text stands for, and so how it looks where there are colours. */
export type Tone = 'name' | 'waiting' | 'danger' | 'quiet'
export type Paint = (tone: Tone, text: string) => string

const formats: Readonly<Record<Tone, Style>> = {
  name: 'bold',
  waiting: 'yellow',
  danger: 'red',
  quiet: 'gray',
}

export function painterFor(hasColour: boolean): Paint {
  const paint = painter(hasColour)
  return (tone, text) => paint(formats[tone], text)
}

/** The first line that says something, on at most so many columns. */
export function firstLine(text: string, columns: number): string {
  const lines = text.split(/\r\n|[\r\n]/).map((line) => line.replaceAll(/\s+/g, ' ').trim())
  const [first = '', ...rest] = lines.filter((line) => line !== '')
  return shorten(rest.length > 0 ? `${visible(first)} …` : visible(first), columns)
}
