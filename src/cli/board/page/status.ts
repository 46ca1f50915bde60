import { element, setClass, setText, show } from './dom.ts'
import { wordsOf, type Condition } from './words.ts'

export interface StatusView {
  readonly pill: HTMLElement
  readonly banner: HTMLElement
  readonly draw: (condition: Condition) => void
}

export function statusView(): StatusView {
  const pill = element('span', { class: 'pill waiting', role: 'status' }, 'looking')
  // read aloud when it comes, and not with each second that it counts
  const banner = element('p', { class: 'banner', id: 'banner' })
  return {
    pill,
    banner,
    draw: (condition) => {
      const { kind, short, long } = wordsOf(condition, performance.now())
      setText(pill, short)
      setClass(pill, `pill ${kind}`)
      setText(banner, long)
      setClass(banner, `banner ${kind}`)
      show(banner, long !== '')
      document.body.classList.toggle('is-old', kind === 'old')
    },
  }
}
