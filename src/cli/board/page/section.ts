import { button, element, keyedList, setText, show, type Row } from './dom.ts'

/** How many things of a list are drawn at first, and with each press of the button below it. */
const step = 100

export interface SectionOptions<T> {
  readonly title: string
  /** For links to it. */
  readonly id: string
  readonly columns: readonly string[]
  readonly keyOf: (thing: T) => string
  readonly create: (thing: T) => Row<T>
  /** Whether it counts; another line of the same thing does not. @default all do */
  readonly counts?: (thing: T) => boolean
  /** What stands there when nothing does. */
  readonly nothing: string
}

/** A chapter of the page: a table of things. */
export interface Section<T> {
  readonly node: HTMLElement
  /** `all` is how many there are, those included that nobody has asked for. */
  readonly draw: (things: readonly T[], all: number) => void
}

/** Of ten thousand things a hundred are drawn; how many are not is always said. */
export function sectionOf<T>(options: SectionOptions<T>): Section<T> {
  const { title, id, columns, keyOf, create, counts = () => true, nothing } = options
  const [count, none] = [element('span', { class: 'count' }), element('p', { class: 'none' }, nothing)]
  const { table, body } = tableOf(columns, `${id}-title`)
  const drawRows = keyedList(body, keyOf, create)
  let most = step
  let wanted: readonly T[] = []
  const more = button('', () => {
    most += step
    drawFirst(wanted)
  })
  more.className = 'more'
  const drawFirst = (things: readonly T[]): void => {
    wanted = things
    drawRows(things.slice(0, most))
    const hidden = things.length - most
    show(more, hidden > 0)
    setText(more, `Show ${Math.min(step, hidden)} more: ${hidden.toLocaleString('en')} are not shown`)
  }
  const node = element(
    'section',
    { id },
    element('h2', { id: `${id}-title` }, title, count),
    table,
    none,
    more,
  )
  return {
    node,
    draw: (things, all) => {
      const shown = things.filter(counts).length
      const of = all.toLocaleString('en')
      setText(count, shown === all ? of : `${shown.toLocaleString('en')} of ${of}`)
      show(table, things.length > 0)
      show(none, things.length === 0)
      setText(none, all > 0 ? 'None of them is what you are looking for.' : nothing)
      drawFirst(things)
    },
  }
}

function tableOf(
  columns: readonly string[],
  label: string,
): { readonly table: HTMLTableElement; readonly body: HTMLElement } {
  const head = element('tr', {}, ...columns.map((name) => element('th', { scope: 'col' }, name)))
  const body = element('tbody')
  return { table: element('table', { 'aria-labelledby': label }, element('thead', {}, head), body), body }
}

/** A cell whose heading stands beside it where the screen is too narrow for columns. */
export function cell(label: string, ...children: readonly (Node | string)[]): HTMLTableCellElement {
  return element('td', { 'data-label': label }, ...children)
}
