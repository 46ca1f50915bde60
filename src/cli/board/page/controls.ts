import { button, element, setText, show } from './dom.ts'
import type { Wanted } from './filter.ts'

export interface ControlOptions {
  readonly onWanted: (wanted: Wanted) => void
  readonly onPause: (isPaused: boolean) => void
}

/** What the reader of the page can turn. */
export interface Controls {
  readonly node: HTMLElement
  readonly pause: HTMLButtonElement
  readonly search: HTMLInputElement
  readonly key: HTMLInputElement
  readonly say: (text: string) => void
}

export function controlsOf({ onWanted, onPause }: ControlOptions): Controls {
  const search = field('search', 'Search', 'application, user, statement, lock …')
  const key = field('key', 'Key', 'part of a key')
  const note = element('p', { class: 'note' })
  const tell = (): void => onWanted({ search: search.value, key: key.value })
  for (const one of [search, key]) one.addEventListener('input', tell)
  let isPaused = false
  const pause = button('Pause', () => {
    isPaused = !isPaused
    setText(pause, isPaused ? 'Resume' : 'Pause')
    pause.setAttribute('aria-pressed', String(isPaused))
    onPause(isPaused)
  })
  pause.setAttribute('aria-pressed', 'false')
  pause.setAttribute('aria-keyshortcuts', 'p')
  pause.title = 'p'
  const links = ['Locks', 'Leases', 'Queues', 'Deadlocks'].map((name) =>
    element('a', { href: `#${name.toLowerCase()}` }, name),
  )
  const node = element(
    'div',
    { class: 'controls' },
    element('label', {}, 'Search ', element('kbd', {}, '/'), search),
    element('label', {}, 'Key ', element('kbd', {}, 'k'), key),
    element('nav', { 'aria-label': 'Chapters' }, ...links),
    note,
  )
  return {
    node,
    pause,
    search,
    key,
    say: (text) => {
      setText(note, text)
      show(note, text !== '')
    },
  }
}

function field(id: string, name: string, placeholder: string): HTMLInputElement {
  return element('input', {
    id,
    type: 'search',
    placeholder,
    'aria-label': name,
    autocomplete: 'off',
    spellcheck: 'false',
  })
}

/** `/` and `k` lead to the fields, Escape empties them, `p` pauses. Keys that mean something already are left alone. */
export function listenToKeys({ search, key, pause }: Controls): void {
  const fields = [search, key]
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const focused = fields.find((one) => one === event.target)
    if (focused !== undefined) {
      if (event.key !== 'Escape') return
      focused.value = ''
      focused.dispatchEvent(new Event('input'))
      focused.blur()
      return
    }
    if (document.querySelector('dialog[open]') !== null) return
    const focus = { '/': search, k: key }[event.key]
    if (focus !== undefined) {
      event.preventDefault()
      focus.focus()
    } else if (event.key === 'p') pause.click()
  })
}
