import { codeInKey, type Classification, type ErrorMeaning, type ErrorTable } from './classification.ts'
import { isRetryable } from './error-kind.ts'
import { concludedBy, lookUp, statedBy } from './stated.ts'
import { quietly, unwrap, type Layer } from './unwrap.ts'

/** All that is needed of a dialect to read its errors. */
export interface ErrorSource {
  readonly name: string
  readonly errors: ErrorTable
}

/** What one layer says, and how much that counts. */
interface Finding extends ErrorMeaning {
  readonly weight: number
  readonly depth: number
  readonly original: unknown
  readonly dialect?: string
  readonly code?: string
}

/** What an error means that may come from any of these dialects, or from none. Never throws. */
export function classifyAmong(thrown: unknown, dialects: readonly ErrorSource[]): Classification {
  return classify(thrown, dialects)
}

/** What an error means that came out of a connection of this dialect. Never throws. */
export function classifyFor(thrown: unknown, dialect: ErrorSource): Classification {
  return classify(thrown, [dialect], dialect.name)
}

function classify(thrown: unknown, dialects: readonly ErrorSource[], told?: string): Classification {
  const layers = unwrap(thrown)
  const findings = layers
    .map((layer) => examine(layer, dialects, told))
    .filter((found) => found !== undefined)
  const best = findings.reduce<Finding | undefined>(
    (a, b) => (a === undefined || outweighs(b, a) ? b : a),
    undefined,
  )
  const concluded = layers
    .map(({ error }) => quietly(() => concludedBy(error)))
    .find((found) => found !== undefined)
  const kind = concluded?.kind ?? best?.kind ?? 'other'
  const dialect = best?.dialect ?? told
  const code = best?.code ?? concluded?.code
  const transaction = best?.transaction ?? concluded?.transaction ?? 'open'
  return {
    kind,
    retryable: concluded?.retryable ?? isRetryable(kind),
    ...(dialect === undefined ? {} : { dialect }),
    ...(code === undefined ? {} : { code }),
    transaction: kind === 'commit-unknown' ? 'unknown' : transaction,
    original: best === undefined ? thrown : best.original,
  }
}

/** A driver's error that says something counts most, then what a wrapper states, then a driver's error of no interest. */
function examine(
  { error, depth }: Layer,
  dialects: readonly ErrorSource[],
  told?: string,
): Finding | undefined {
  const place = { depth, original: error }
  for (const { name, errors } of dialects) {
    const key = quietly(() => errors.codeOf(error, told !== undefined))
    if (key === undefined) continue
    const meaning = lookUp(errors.codes, key) ?? { kind: 'other', transaction: errors.otherwise }
    return {
      ...place,
      ...meaning,
      weight: meaning.kind === 'other' ? 1 : 3,
      dialect: name,
      code: codeInKey(key),
    }
  }
  const stated = quietly(() => statedBy(error))
  return stated === undefined ? undefined : { ...place, ...stated, weight: 2 }
}

/** Of two that count the same the inner one is nearer to the engine. */
function outweighs(a: Finding, b: Finding): boolean {
  return a.weight === b.weight ? a.depth > b.depth : a.weight > b.weight
}
