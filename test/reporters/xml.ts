/** An element of a document that was read. */
export interface Element {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: readonly (Element | string)[]
}

/** What XML 1.0 allows as a character at all. */
const character = /^[\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]*$/u
const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/**
 * Reads XML without comments, CDATA and document types, and throws at the first thing that is not well-formed.
 *
 * It is as strict as a build server: a character that XML forbids, an attribute given twice, a bare ampersand or a tag
 * that is closed by another one is an error.
 */
export function parseXml(text: string): Element {
  if (!character.test(text)) throw new Error('a character that XML forbids')
  const source = text.replace(/^<\?xml version="1\.0" encoding="UTF-8"\?>\n/, '')
  const open: { name: string; attributes: Record<string, string>; children: (Element | string)[] }[] = [
    { name: '', attributes: {}, children: [] },
  ]
  for (const [token, tag, between] of tokensOf(source)) {
    const top = open.at(-1)
    if (top === undefined) throw new Error(`${token} behind the end`)
    if (between !== undefined) top.children.push(decode(between))
    else if (token.startsWith('</')) {
      if (top.name !== tag) throw new Error(`<${top.name}> is closed by ${token}`)
      open.pop()
    } else {
      const element = { name: tag ?? '', attributes: attributesOf(token), children: [] }
      top.children.push(element)
      if (!token.endsWith('/>')) open.push(element)
    }
  }
  const [root, ...rest] = open
  if (root === undefined || rest.length > 0) throw new Error(`<${rest.at(-1)?.name}> is never closed`)
  const elements = root.children.filter((child) => typeof child !== 'string' || child.trim() !== '')
  const [first] = elements
  if (elements.length !== 1 || first === undefined || typeof first === 'string')
    throw new Error('no one root')
  return first
}

/** Everything below an element, itself included. */
export function elementsOf(element: Element): readonly Element[] {
  return [
    element,
    ...element.children.flatMap((child) => (typeof child === 'string' ? [] : elementsOf(child))),
  ]
}

export function named(element: Element, name: string): readonly Element[] {
  return elementsOf(element).filter((one) => one.name === name)
}

export function textOf(element: Element): string {
  return element.children.map((child) => (typeof child === 'string' ? child : textOf(child))).join('')
}

const name = String.raw`[A-Za-z][\w.:-]*`
const attribute = String.raw`\s+(${name})="([^"<]*)"`

function tokensOf(source: string): readonly (readonly [string, string | undefined, string | undefined])[] {
  const token = new RegExp(`</(${name})>|<(${name})(?:${attribute})*/?>|([^<]+)`, 'gy')
  const tokens: (readonly [string, string | undefined, string | undefined])[] = []
  while (token.lastIndex < source.length) {
    const at = token.lastIndex
    const found = token.exec(source)
    if (found === null) throw new Error(`not well-formed at ${JSON.stringify(source.slice(at, at + 80))}`)
    tokens.push([found[0], found[1] ?? found[2], found.at(-1)])
  }
  return tokens
}

function attributesOf(tag: string): Record<string, string> {
  const attributes: Record<string, string> = {}
  for (const [, key = '', value = ''] of tag.matchAll(new RegExp(attribute, 'g'))) {
    if (Object.hasOwn(attributes, key)) throw new Error(`${key} is given twice in ${tag}`)
    attributes[key] = decode(value)
  }
  return attributes
}

function decode(text: string): string {
  if (text.includes(']]>')) throw new Error(']]> in the open')
  return text.replaceAll(/&(?:#(\d+)|(\w+))?;?/g, (whole, digits?: string, word?: string) => {
    const known = digits === undefined ? entities[word ?? ''] : String.fromCodePoint(Number(digits))
    if (known === undefined || !whole.endsWith(';')) throw new Error(`${whole} is no entity`)
    return known
  })
}
