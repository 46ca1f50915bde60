import { readFile } from 'node:fs/promises'

import { nodesOf, isNode } from '../../../test/shape/source.ts'
import { markdownTable } from '../../../src/conformance/reporters/markdown-text.ts'
import type { Dialect } from '../../../src/dialects/dialect.ts'
import { registry } from '../../../src/registry.ts'
import { adapterEntries, type AdapterEntry } from '../adapter-entries.ts'
import { code, prose } from '../markdown.ts'
import { noArguments, project, type Generator } from '../place.ts'
import { readFiles, type ProjectFile } from '../project-files.ts'

/** Each adapter, and what its driver lets it do, as its own files say. */
export const adapters: Generator = async (args) => {
  noArguments(args)
  const peers = await peerVersions()
  const sources = await readFiles('src')
  const rows = (await adapterEntries()).map((entry) => {
    const entryFile = sources.find(({ path }) => path === entry.file)
    if (entryFile === undefined) throw new Error(`${entry.file} is not there`)
    const own = sources.filter(({ path }) => isPartOf(path, entry))
    // a driver that is dressed like an ORM has sessions of its own
    const isOrm =
      own.some(({ text }) => text.includes(`from '../orm/`)) && !own.some((file) => declares(file, 'onLost'))
    const has = (property: string): string => {
      if (isOrm) return 'same as its driver'
      return own.some((file) => declares(file, property)) ? 'yes' : 'no'
    }
    const [driver = '', versions = ''] = peerOf(entry, peers) ?? []
    return [
      code(`holdfast/${entry.name}`),
      driver === '' ? 'no package' : `${code(driver)}${versions === '*' ? '' : ` ${prose(versions)}`}`,
      databasesIn(entryFile)
        .map(({ title }) => title)
        .join(', '),
      prose(whatWorkReceives(entryFile)),
      has('listen'),
      has('onLost'),
    ]
  })
  const head = [
    'import',
    'driver',
    'databases',
    'the work receives',
    'hears of releases',
    'hears of a lost connection',
  ]
  return markdownTable([head, ...rows])
}

function isPartOf(path: string, { name }: AdapterEntry): boolean {
  return path.startsWith(`src/adapters/${name}/`)
}

/** Whether an object in the file has that property: the session port is written as objects. */
function declares(file: ProjectFile, property: string): boolean {
  return nodesOf(file).some(({ type, key }) => type === 'Property' && isNode(key) && key.name === property)
}

/** By the type of its dialects that the entry exports, otherwise by the names that it says. */
export function databasesIn(file: ProjectFile): readonly Dialect[] {
  const [, union] = /^export type \w+DialectName = ([^<\n]+)$/m.exec(file.text) ?? []
  if (union?.includes("'") === true)
    return Object.values(registry).filter(({ name }) => union.includes(`'${name}'`))
  const said = new Set(
    nodesOf(file).flatMap(({ type, key, value }) => {
      if (type === 'Literal') return [value]
      return type === 'Property' && isNode(key) ? [key.name] : []
    }),
  )
  return Object.values(registry).filter(({ name }) => said.has(name))
}

function whatWorkReceives({ path, text }: ProjectFile): string {
  const flat = text.replaceAll(/\s*\n\s*\*?\s*/g, ' ')
  const [, what] = /\b[Tt]he work receives ((?:`[^`]*`|[^`])+?)(?:[:,.](?=\s)| \*\/)/.exec(flat) ?? []
  if (what === undefined) throw new Error(`${path} does not say what "the work receives"`)
  return what
}

export type Peer = readonly [name: string, versions: string]

/** The nearest name first: `@prisma/adapter-pg` has the name of another adapter in it. */
export function peerOf({ name: entry }: AdapterEntry, peers: readonly Peer[]): Peer | undefined {
  const called = (is: (name: string) => boolean): Peer | undefined => peers.find(([name]) => is(name))
  return (
    called((name) => name === entry) ??
    called((name) => name === `@${entry}/client`) ??
    called((name) => `${name}-js` === entry) ??
    called((name) => name.includes(entry))
  )
}

export async function peerVersions(): Promise<readonly Peer[]> {
  const text = await readFile(new URL('package.json', project), 'utf8')
  const { peerDependencies } = JSON.parse(text) as { readonly peerDependencies: Record<string, string> }
  return Object.entries(peerDependencies)
}
