import { readPage, type Fence } from '../docs/page.ts'
import { planOf } from '../docs/plan.ts'

/** A program that a page shows whole, and what the page says that it prints. */
export interface Block {
  readonly title: string
  readonly engines: readonly string[]
  readonly text: string
  /** `undefined` where the page shows no output: it is compiled only. */
  readonly prints: string | undefined
}

/** The programs of a page that need no other file. */
export async function wholePrograms(page: string): Promise<readonly Block[]> {
  const { programs } = planOf(await readPage(page))
  return programs
    .filter(({ fence, usesDb, targets }) => !usesDb && targets.length > 0 && !isFile(fence))
    .map(({ fence, targets, prints }) => ({
      title: `${page}:${fence.line}`,
      engines: targets.map(({ engine }) => engine),
      text: fence.text,
      prints: prints?.text,
    }))
}

/** `./db.ts` and `./tables.ts` of getting started, each by a name of its own, for who compiles: `./db.js`. */
export async function connectionFiles(): Promise<Readonly<Record<string, string>>> {
  const { fences } = await readPage('docs/getting-started.md')
  const files = fences.filter((fence) => fence.language === 'ts' && isFile(fence))
  return Object.fromEntries(
    files.map(({ words, text }) => [
      words.includes('tables') ? 'tables.ts' : `${words.join('-')}.ts`,
      text.replaceAll(/(?<=from '\.\/\w+)\.ts'/g, ".js'"),
    ]),
  )
}

function isFile({ words }: Fence): boolean {
  return words.includes('db') || words.includes('tables')
}

/** The blocks of a page that stand in one of these languages, in their order. */
export async function blocksIn(page: string, ...languages: readonly string[]): Promise<readonly string[]> {
  const { fences } = await readPage(page)
  return fences.filter(({ language }) => languages.includes(language)).map(({ text }) => text)
}
