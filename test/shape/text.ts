import { specifierOf } from './imports.ts'
import { nodesOf, type Source, type SyntaxNode } from './source.ts'

const maxLines = 300

/** Says so when a file is longer than a reader's patience. */
export function lengthProblems({ path, text }: Source): readonly string[] {
  const lines = text.replace(/\n$/, '').split('\n').length
  return lines > maxLines ? [`${path} has ${lines} lines; ${maxLines} are the most`] : []
}

/** Each place where a file gives up on types. */
export function anyProblems(source: Source): readonly string[] {
  return nodesOf(source).flatMap((node) =>
    node.type === 'TSAnyKeyword' ? [`${source.path}:${lineOf(source, node)} says any`] : [],
  )
}

/** All that there are, and those that ORMs reach. */
const lists: readonly string[] = ['src/registry.ts', 'src/orm-dialects.ts']

/**
 * Each place where shared code, or another dialect's, says a dialect's name: in a string, a type, a comparison or as a
 * name of its own. Comments may, and so may the registry, an adapter that is called the same, and the entries, which
 * say what their driver reaches, as do the drivers of addresses.
 */
export function dialectNameProblems(source: Source, dialects: readonly string[]): readonly string[] {
  if (lists.includes(source.path)) return []
  const foreign = dialects.filter((name) => !isAtHome(source, name))
  const nodes = nodesOf(source)
  const imported = new Set(nodes.filter((node) => specifierOf(node) !== undefined).map((node) => node.source))
  return nodes.flatMap((node) => {
    // the name of a package, such as @prisma/adapter-mariadb, is one word
    const words: readonly string[] = imported.has(node)
      ? []
      : (wordsOf(node)?.match(/@[\w/-]+|[\w$]+/g) ?? [])
    const named = foreign.filter((name) => words.includes(name))
    return named.map((name) => `${source.path}:${lineOf(source, node)} names ${name}`)
  })
}

/**
 * The dialect's folder, that of the adapter for the driver of that name, the entries, where addresses are opened (the
 * drivers and the embedded engines), and where a driver's statements are held back.
 */
function isAtHome({ path }: Source, name: string): boolean {
  return [
    `src/dialects/${name}/`,
    `src/adapters/${name}/`,
    `src/adapters/${name}-js/`,
    'src/entries/',
    'src/connect/drivers',
    'src/connect/embedded',
    'src/race/seams',
  ].some((home) => path.startsWith(home))
}

function wordsOf({ type, value, name }: SyntaxNode): string | undefined {
  if (type === 'Literal' && typeof value === 'string') return value
  if (type === 'Identifier' && typeof name === 'string') return name
  if (type === 'TemplateElement' && typeof value === 'object' && value !== null && 'raw' in value) {
    return String(value.raw)
  }
  return undefined
}

function lineOf({ text }: Source, { start }: SyntaxNode): number {
  return text.slice(0, Number(start)).split('\n').length
}
