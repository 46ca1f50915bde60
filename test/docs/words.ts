import type { Fence } from './page.ts'

/** The engines that a word behind the ticks can name. */
export const engines = ['postgres', 'mysql', 'mariadb', 'sqlite', 'duckdb', 'mssql', 'mongodb'] as const

export type EngineName = (typeof engines)[number]

/** Those that are reached through Kysely where a block says `kysely`. */
const kyselyEngines: readonly EngineName[] = ['postgres', 'mysql', 'mariadb', 'sqlite']

/** Where a program runs: an engine, with the driver itself or with Kysely in front of it. */
export interface Target {
  readonly engine: EngineName
  readonly isKysely: boolean
}

export function titleOf({ engine, isKysely }: Target): string {
  return isKysely ? `${engine} through kysely` : engine
}

/** The words that a language takes besides engines. */
const wordsOf: Readonly<Record<string, readonly string[]>> = {
  ts: [...engines, 'kysely', 'db', 'tables', 'example'],
  sql: [...engines.filter((engine) => engine !== 'mongodb'), 'setup'],
  json: ['mongodb', 'setup'],
  sh: [],
  text: [],
}

/** A word that means nothing here: nobody would notice that it does nothing. */
export function unknownWord({ language, words }: Fence): string | undefined {
  const known = wordsOf[language]
  return known && words.find((word) => !known.includes(word))
}

export function knownWords(language: string): readonly string[] {
  return wordsOf[language] ?? []
}

/** The engines that a block names; none when it names none. */
export function enginesIn({ words }: Fence): readonly EngineName[] {
  return engines.filter((engine) => words.includes(engine))
}

/** Where a program of `./db.ts` runs: everywhere, unless the block says where. */
export function targetsOf(fence: Fence): readonly Target[] {
  const isKysely = fence.words.includes('kysely')
  const named = enginesIn(fence)
  const all = isKysely ? kyselyEngines : engines
  return (named.length === 0 ? all : named).map((engine) => ({ engine, isKysely }))
}
