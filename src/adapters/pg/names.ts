import { createHash } from 'node:crypto'

/** The names under which a pool's connections keep statements prepared on the server. */
export interface StatementNames {
  /** Undefined for a statement that has to be sent without a name. */
  readonly of: (text: string) => string | undefined
  /** Whether it was only because of its name that a statement was not run: without the name it can be sent again. */
  readonly isRefused: (error: unknown, name: string) => boolean
}

/** Every connection keeps all of them for as long as it lives, those of tables that have changed as well. */
const maxNames = 200

/**
 * Behind a pooler that hands a connection from server to server and does not know of prepared statements, one server
 * does not know the name, and the next has it from another client.
 */
const refusals = ['26000', '42P05']

const ofPools = new WeakMap<object, StatementNames>()

/** The same for everybody who uses the pool, so that what one has found out about it holds for all. */
export function statementNames(pool: object): StatementNames {
  const names = ofPools.get(pool) ?? createNames()
  ofPools.set(pool, names)
  return names
}

function createNames(): StatementNames {
  let isOff = false
  /** Rises when the tables behind the statements have changed: what a connection has prepared is worth nothing then. */
  let generation = 0
  const names = new Map<string, string>()
  let made = 0
  return {
    of: (text) => {
      if (isOff) return undefined
      const known = names.get(text)
      if (known !== undefined || made >= maxNames) return known
      const name = nameOf(text, generation)
      names.set(text, name)
      made += 1
      return name
    },
    isRefused: (error, name) => {
      const { code, routine } = error as { readonly code?: unknown; readonly routine?: unknown }
      if (refusals.includes(String(code))) {
        isOff = true
        return true
      }
      if (code !== '0A000' || routine !== 'RevalidateCachedQuery') return false
      if (name.startsWith(prefixOf(generation))) {
        generation += 1
        names.clear()
      }
      return true
    },
  }
}

/** Made of the text, since a server behind a pooler may have the name from another program: it means the same there. */
function nameOf(text: string, generation: number): string {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 32)
  return `${prefixOf(generation)}${hash}`
}

function prefixOf(generation: number): string {
  return `holdfast_${generation}_`
}
