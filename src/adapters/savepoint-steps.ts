import { tokensOf, type Spelling } from './sql-text.ts'

/** What a statement does to the savepoints of its transaction, in the server's own words for a statement that is done. */
export type SavepointTag = 'SAVEPOINT' | 'RELEASE' | 'ROLLBACK'

export interface SavepointStep {
  readonly tag: SavepointTag
  /** As the server knows it. Absent where that cannot be told, as of `U&"..."`. */
  readonly name?: string
}

/** What stands in front of the name. */
const forms: Readonly<Record<string, SavepointTag>> = {
  savepoint: 'SAVEPOINT',
  release: 'RELEASE',
  'release savepoint': 'RELEASE',
  'rollback to': 'ROLLBACK',
  'rollback to savepoint': 'ROLLBACK',
  'rollback work to': 'ROLLBACK',
  'rollback work to savepoint': 'ROLLBACK',
  'rollback transaction to': 'ROLLBACK',
  'rollback transaction to savepoint': 'ROLLBACK',
}

const beginning = /^(?:(savepoint)|(release)|rollback (?:(?:work|transaction) )?to)(?= |$)/

/** One for each statement of a text; undefined for those that do nothing to savepoints. */
export type SavepointSteps = readonly (SavepointStep | undefined)[]

export function savepointSteps(sql: string, spelling: Spelling): SavepointSteps {
  const steps: (SavepointStep | undefined)[] = []
  let tokens: string[] = []
  for (const token of [...tokensOf(sql, spelling), ';']) {
    if (token !== ';') tokens.push(token)
    else if (tokens.length > 0) {
      steps.push(stepOf(tokens))
      tokens = []
    }
  }
  return steps
}

function stepOf(tokens: readonly string[]): SavepointStep | undefined {
  const words = tokens.map(inLowerCase)
  const found = beginning.exec(words.slice(0, 4).join(' '))
  if (found === null) return undefined
  const last = tokens.at(-1) ?? ''
  const tag = forms[words.slice(0, -1).join(' ')]
  if (tag !== undefined) return { tag, name: nameOf(last) }
  return { tag: found[1] === undefined ? (found[2] === undefined ? 'ROLLBACK' : 'RELEASE') : 'SAVEPOINT' }
}

/** Of longer names the server drops the rest. */
const maxBytes = 63

function nameOf(token: string): string {
  const name = token.startsWith('"') ? token.slice(1, -1).replaceAll('""', '"') : inLowerCase(token)
  if (Buffer.byteLength(name) <= maxBytes) return name
  let short = ''
  for (const letter of name) {
    if (Buffer.byteLength(short + letter) > maxBytes) break
    short += letter
  }
  return short
}

/** As the server does it to names without quotes: no letter but these has another case to it. */
function inLowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}
