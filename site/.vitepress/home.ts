import { readResults } from '../../scripts/versions/results.ts'
import { targets } from '../../scripts/versions/targets.ts'
import { supportMatrix } from '../../src/matrix.ts'
import { registry } from '../../src/registry.ts'

/** How a level is called where there is room for a line. */
const levels = {
  native: 'Native',
  stronger: 'Stronger than asked',
  emulated: 'Emulated',
  unsupported: 'Refused',
}

interface Feature {
  readonly title: string
  readonly details: string
  readonly link: string
}

/** What each database gives, from the same data as the matrix. */
async function databases(): Promise<readonly Feature[]> {
  const cells = supportMatrix()
  const tried = new Set((await readResults()).map(({ target }) => target))
  const isTried = (name: string): boolean =>
    targets.some(({ id, engine }) => engine === name && tried.has(id))
  return Object.values(registry).map(({ name, title }) => {
    const own = cells.filter(({ dialect }) => dialect === name)
    const details = Object.entries(levels).flatMap(([level, words]) => {
      const categories = own.filter(({ support }) => support.level === level).map(({ category }) => category)
      return categories.length === 0 ? [] : [`${words}: ${categories.join(', ')}.`]
    })
    const words = isTried(name)
      ? details
      : ['By its documentation; the laws have not run on it yet.', ...details]
    return { title, details: words.join(' '), link: `/dialects/${name}` }
  })
}

/** The head of the first page. What is below it is docs/index.md. */
export const home: object = {
  layout: 'home',
  hero: {
    name: 'Holdfast',
    text: 'Database locks that mean the same thing on every database',
    tagline:
      'Two requests read the last book, both find one left, and both sell it. Every database can prevent this, and each does it differently.',
    image: { src: '/favicon.svg', alt: '' },
    actions: [
      { theme: 'brand', text: 'Getting started', link: '/getting-started' },
      { theme: 'alt', text: 'What each database gives', link: '/matrix' },
      { theme: 'alt', text: 'API reference', link: '/api/' },
    ],
  },
  features: await databases(),
}
