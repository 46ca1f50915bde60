import { posix } from 'node:path'

import { isNode, nodesOf, type Source, type SyntaxNode } from './source.ts'

/** One file that another one names. */
interface Import {
  readonly from: string
  /** A path like that of a {@link Source}, or the name of a package. */
  readonly to: string
  /** Whether nothing of it is left at run time. */
  readonly isType: boolean
}

/** All that a file imports or exports from elsewhere, `import()` and types included. */
function importsOf(source: Source): readonly Import[] {
  return nodesOf(source).flatMap((node) => {
    const specifier = specifierOf(node)
    if (specifier === undefined) return []
    const to = specifier.startsWith('.') ? posix.join(posix.dirname(source.path), specifier) : specifier
    return [{ from: source.path, to, isType: isTypeOnly(node) }]
  })
}

/** The text between the quotes, where a piece of syntax names another file. */
export function specifierOf(node: SyntaxNode): string | undefined {
  if (
    !/^(Import|Export)(Declaration|NamedDeclaration|AllDeclaration|Expression)$|^TSImportType$/.test(
      node.type,
    )
  ) {
    return undefined
  }
  const { source } = node
  return isNode(source) && typeof source.value === 'string' ? source.value : undefined
}

/** `import { type A }` stays as an import of nothing, so only `import type` counts. */
function isTypeOnly({ type, importKind, exportKind }: SyntaxNode): boolean {
  return type === 'TSImportType' || importKind === 'type' || exportKind === 'type'
}

/** What is wrong with the direction of the imports, in words; nothing when all is well. */
export function directionProblems(sources: readonly Source[]): readonly string[] {
  const imports = sources.flatMap(importsOf)
  return imports.flatMap((one) => {
    const problem = problemOf(one)
    return problem === undefined ? [] : [`${one.from} imports ${one.to}: ${problem}`]
  })
}

function problemOf({ from, to, isType }: Import): string | undefined {
  if (to.startsWith('node:')) return undefined
  if (!to.startsWith('src/')) return 'src imports no package'
  if (to === 'src/index.ts') return 'nobody imports the index'
  const within = (path: string, ...folders: string[]): boolean =>
    folders.some((folder) => path.startsWith(`src/${folder}/`))
  if (within(from, 'core') && !within(to, 'core')) return 'core imports nothing outside core'
  if (within(from, 'dialects') && !within(to, 'core', 'dialects')) return 'dialects import core and dialects'
  if (within(from, 'adapters') && !isType && !within(to, 'core', 'adapters')) {
    return 'adapters import core, and only types from elsewhere'
  }
  if (within(from, 'coordinators') && !isType && !within(to, 'core', 'coordinators')) {
    return 'coordinators import core, and only types from elsewhere'
  }
  if (within(from, 'locks') && within(to, 'adapters', 'coordinators')) return 'algorithms know no adapter'
  if (within(to, 'entries') && !within(from, 'entries')) return 'nobody imports an entry'
  if (within(to, 'connect') && !within(from, 'connect', 'cli', 'conformance', 'entries')) {
    return 'only commands, laws and entries are given addresses'
  }
  if (within(from, 'connect') && (within(to, 'cli') || (within(to, 'conformance') && !isType))) {
    return 'who opens an address knows no command and runs no law'
  }
  const isPartOfDialect = /^src\/dialects\/[^/]+\//.test(to)
  const isWhole = to.endsWith('/index.ts')
  if (isPartOfDialect && !within(from, 'dialects') && !(isWhole && takesDialects(from))) {
    return 'only the registry and the entries take a dialect, and as a whole'
  }
  if (isPartOfDialect && within(from, 'dialects') && isWhole) return 'no dialect takes another as a whole'
  return undefined
}

/** An entry brings the dialects that its driver reaches, and no others: so it does not go by the registry. */
function takesDialects(from: string): boolean {
  return from.startsWith('src/entries/') || ['src/registry.ts', 'src/orm-dialects.ts'].includes(from)
}

/** Each circle of imports once, types included: `a.ts -> b.ts -> a.ts`. */
export function cycles(sources: readonly Source[]): readonly string[] {
  const targets = new Map(sources.map((source) => [source.path, importsOf(source).map(({ to }) => to)]))
  const done = new Set<string>()
  const found: string[] = []
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) found.push([...trail.slice(trail.indexOf(path)), path].join(' -> '))
    if (trail.includes(path) || done.has(path)) return
    for (const to of targets.get(path) ?? []) visit(to, [...trail, path])
    done.add(path)
  }
  for (const path of targets.keys()) visit(path, [])
  return found
}
