import { isUnsupported } from '../../src/core/support.ts'

/** What one dialect of ours has to have. Loose on purpose: a check that trusts the types finds nothing. */
export interface DialectParts {
  readonly name?: unknown
  readonly cells?: Readonly<Record<string, unknown>>
  readonly errors?: { readonly codeOf?: unknown; readonly codes?: Readonly<Record<string, unknown>> }
}

export interface Inventory {
  /** The folders in `src/dialects`. */
  readonly folders: readonly string[]
  readonly registry: { readonly [dialect: string]: DialectParts }
  readonly categories: readonly string[]
  /** The engines of `test/engines`. */
  readonly engines: readonly string[]
}

/** What a dialect lacks, in words; nothing when folders, registry and engines match and every cell is decided. */
export function dialectProblems(inventory: Inventory): readonly string[] {
  const { folders, registry, engines } = inventory
  const strangers = Object.keys(registry).filter((name) => !folders.includes(name))
  return [
    ...strangers.map((name) => `${name} is in the registry, but there is no src/dialects/${name}`),
    ...folders.flatMap((folder) => {
      const dialect = registry[folder]
      const problems =
        dialect === undefined ? ['is not in the registry'] : partProblems(folder, dialect, inventory)
      const engine = engines.includes(folder) ? [] : [`has no test/engines/${folder}.ts`]
      return [...problems, ...engine].map((problem) => `${folder} ${problem}`)
    }),
  ]
}

function partProblems(folder: string, dialect: DialectParts, { categories }: Inventory): readonly string[] {
  const { name, cells = {}, errors } = dialect
  return [
    ...(name === folder ? [] : [`calls itself ${String(name)}`]),
    ...categories
      .filter((category) => !isDecided(cells[category]))
      .map((category) => `has not decided ${category}`),
    ...Object.keys(cells)
      .filter((cell) => !categories.includes(cell))
      .map((cell) => `decides ${cell}, which is not a category`),
    ...(typeof errors?.codeOf === 'function' && Object.keys(errors.codes ?? {}).length > 0
      ? []
      : ['has no table of errors']),
  ]
}

function isDecided(cell: unknown): boolean {
  return typeof cell === 'function' || (isUnsupported(cell) && cell.reason !== '' && cell.instead !== '')
}
