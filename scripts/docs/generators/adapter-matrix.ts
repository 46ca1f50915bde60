import { markdownTable } from '../../../src/conformance/reporters/markdown-text.ts'
import { registry } from '../../../src/registry.ts'
import type { Dialect } from '../../../src/dialects/dialect.ts'
import { columns, namesAgainst, type Column, type Said } from '../../adapters/columns.ts'
import { readAdapterResults, type AdapterResult } from '../../adapters/results.ts'
import { adapterEntries } from '../adapter-entries.ts'
import { code } from '../markdown.ts'
import { noArguments, type Generator } from '../place.ts'
import { readFiles } from '../project-files.ts'
import { databasesIn, peerOf, peerVersions } from './adapters.ts'

/** Adapters times features, by what the laws said through each: a table for each database, or one that is `compact`. */
export const adapterMatrix: Generator = async ([form, ...rest]) => {
  noArguments(form === undefined || form === 'compact' ? rest : [form])
  const results = await readAdapterResults()
  const adapters = await adaptersWith(results)
  const table = form === 'compact' ? compact(adapters) : inFull(adapters)
  return [table, ...newerThan(results)].join('\n\n')
}

/** A way into the library, and what was run through it. */
interface Adapter {
  readonly title: string
  readonly databases: readonly Dialect[]
  /** One for each database. */
  readonly runs: readonly AdapterResult[]
}

async function adaptersWith(results: readonly AdapterResult[]): Promise<readonly Adapter[]> {
  const [peers, sources] = [await peerVersions(), await readFiles('src')]
  return (await adapterEntries()).map((entry) => {
    const file = sources.find(({ path }) => path === entry.file)
    if (file === undefined) throw new Error(`${entry.file} is not there`)
    // what comes with Node is no peer
    const names = [...(peerOf(entry, peers)?.slice(0, 1) ?? []), entry.name, entry.name.replace('-', ':')]
    const own = results.filter(({ adapter }) => names.includes(adapter))
    return { title: code(`holdfast/${entry.name}`), databases: databasesIn(file), runs: lastOf(own) }
  })
}

/** Where a database was run on several machines, the last of them. */
function lastOf(results: readonly AdapterResult[]): readonly AdapterResult[] {
  const byEngine = new Map<string, AdapterResult>()
  for (const result of results.toSorted((a, b) => a.on.localeCompare(b.on)))
    byEngine.set(result.engine, result)
  return [...byEngine.values()]
}

/** Laws that came after the runs. */
function newerThan(results: readonly AdapterResult[]): readonly string[] {
  const newer = new Set(results.flatMap(namesAgainst))
  return newer.size === 0 ? [] : [`Not in all of these runs yet: ${[...newer].join(', ')}.`]
}

function compact(adapters: readonly Adapter[]): string {
  const rows = adapters.map(({ title: name, databases, runs }) => [
    name,
    databases
      .map((one) => (runs.some(({ engine }) => engine === one.name) ? one.title : `${one.title} (not run)`))
      .join(', '),
    ...columns.map((column) => together(runs, column)),
  ])
  return markdownTable([['import', 'databases', ...columns.map(({ title }) => title)], ...rows])
}

/** What all databases of an adapter say of a feature. */
function together(runs: readonly AdapterResult[], column: Column): string {
  if (runs.length === 0) return 'not run'
  const said = runs.map((run) => ({ title: titleOf(run.engine), ...column.saidBy(run) }))
  const titles = (word: Said['word']): string =>
    said
      .filter((one) => one.word === word)
      .map(({ title }) => title)
      .join(', ')
  const broken = titles('broken')
  if (broken !== '') return `**broken on ${broken}**`
  if (said.every(({ word }) => word === 'yes')) return 'yes'
  if (said.every(({ word }) => word !== 'yes')) return 'no'
  const missing = said.filter(({ word }) => word !== 'yes').map(({ title }) => title)
  return `not on ${missing.join(', ')}`
}

function inFull(adapters: readonly Adapter[]): string {
  const tables = Object.values(registry).flatMap(({ name, title }) => {
    const own = adapters.filter(({ databases }) => databases.some((one) => one.name === name))
    if (own.length === 0) return []
    const rows = own.map((one) =>
      rowOf(
        one.title,
        one.runs.find(({ engine }) => engine === name),
      ),
    )
    const head = ['import', 'run', ...columns.map((column) => column.title)]
    return [`**${title}**`, markdownTable([head, ...rows])]
  })
  return tables.join('\n\n')
}

function rowOf(name: string, run: AdapterResult | undefined): readonly string[] {
  if (run === undefined) return [name, 'not run', ...columns.map(() => '')]
  const { driver, version, architecture, on } = run
  const cells = columns.map((column) => {
    const { word, held, ids } = column.saidBy(run)
    if (word === 'broken') return `**broken: ${ids.join(', ')}**`
    return word === 'yes' && held > 1 ? `yes, ${held}` : word
  })
  return [name, `${driver}, ${version}, ${architecture}, ${on}`, ...cells]
}

function titleOf(engine: string): string {
  return Object.values(registry).find(({ name }) => name === engine)?.title ?? engine
}
