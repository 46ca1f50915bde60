/*
 * The little that the page needs to draw: elements with text in them, and lists whose elements stay while their things do.
 * Text is always a text node, whatever stands in it.
 */

type Child = Node | string

/** An element. Attributes that are undefined are left out. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string | undefined>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) made.setAttribute(name, value)
  }
  made.append(...children)
  return made
}

/** A real button. */
export function button(
  text: string,
  onClick: () => void,
  attributes: Readonly<Record<string, string | undefined>> = {},
): HTMLButtonElement {
  const made = element('button', { type: 'button', ...attributes }, text)
  made.addEventListener('click', onClick)
  return made
}

/** Writes only what has changed: what is selected or read aloud is not disturbed by the same text once more. */
export function setText(node: Node, text: string): void {
  if (node.textContent !== text) node.textContent = text
}

export function setClass(node: Element, text: string): void {
  if (node.className !== text) node.className = text
}

export function show(node: HTMLElement, isShown: boolean): void {
  if (node.hidden === isShown) node.hidden = !isShown
}

/** An element for one thing of a list, and how it is brought up to date. */
export interface Row<T> {
  readonly node: Element
  readonly update: (thing: T) => void
}

/** Draws a list: each thing keeps its element as long as its key is there, with its focus and what is open in it. */
export type DrawList<T> = (things: readonly T[]) => void

export function keyedList<T>(
  parent: Element,
  keyOf: (thing: T) => string,
  create: (thing: T) => Row<T>,
): DrawList<T> {
  let rows = new Map<string, Row<T>>()
  return (things) => {
    const next = new Map<string, Row<T>>()
    for (const thing of things) {
      const key = keyOf(thing)
      const row = next.get(key) ?? rows.get(key) ?? create(thing)
      row.update(thing)
      next.set(key, row)
    }
    for (const [key, row] of rows) if (!next.has(key)) row.node.remove()
    let place = parent.firstElementChild
    for (const { node } of next.values()) {
      if (node === place) place = place.nextElementSibling
      else parent.insertBefore(node, place)
    }
    rows = next
  }
}
