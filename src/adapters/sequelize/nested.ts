import { noteDerived } from '../../core/derived.ts'
import { afterOthers, otherTerms, toItsEnd, withoutFunction } from '../orm/nesting.ts'
import { wireOf } from '../orm/wire.ts'
import type { Insides, SequelizeTransaction } from './instance.ts'
import { handOver, keepHooks, keepOpen } from './transaction.ts'

type Work = (inner: SequelizeTransaction) => unknown

interface NestedOptions {
  readonly transaction?: SequelizeTransaction | null
  readonly isolationLevel?: unknown
  readonly readOnly?: boolean
  /** Of a `findOrCreate`, which hands on all that it was given. */
  readonly where?: unknown
}

/** What `transaction` was called with. */
interface NestedCall {
  readonly options: NestedOptions
  readonly work: unknown
}

const known = new WeakSet<object>()

/**
 * Nested work of Holdfast's transactions takes turns. All other transactions of the instance stay what they are.
 *
 * Sequelize has no other place for it: it nests where its own object is among the options of `transaction`.
 */
export function withSavepoints(sequelize: Insides): void {
  if (known.has(sequelize)) return
  known.add(sequelize)
  const own = sequelize.transaction.bind(sequelize)
  sequelize.transaction = async (options, work) => {
    const outer = (options as NestedOptions | undefined)?.transaction ?? undefined
    if (typeof options !== 'object' || outer === undefined || wireOf(outer) === undefined)
      return own(options, work)
    return nestIn(outer, { options: options as NestedOptions, work }, own)
  }
}

function nestIn(
  outer: SequelizeTransaction,
  { options, work }: NestedCall,
  own: Insides['transaction'],
): Promise<unknown> | SequelizeTransaction {
  if (typeof work !== 'function') {
    // findOrCreate never goes back to the savepoint, so it needs none
    if (options.where !== undefined) return outer
    throw withoutFunction()
  }
  if (options.isolationLevel !== undefined || options.readOnly === true) throw otherTerms()
  return afterOthers(outer, (self) =>
    own(options, (inner: SequelizeTransaction) =>
      nested({ outer, inner }, () => toItsEnd(self, inner, async () => (work as Work)(inner))),
    ),
  )
}

interface Levels {
  readonly outer: SequelizeTransaction
  readonly inner: SequelizeTransaction
}

async function nested({ outer, inner }: Levels, work: () => Promise<unknown>): Promise<unknown> {
  noteDerived(inner, outer)
  keepName(inner, outer)
  const hooks = keepHooks(inner)
  const letEnd = keepOpen(inner)
  try {
    const answer = await work()
    handOver(hooks, outer)
    return answer
  } finally {
    letEnd()
  }
}

/**
 * Sequelize numbers savepoints in each of them anew, and gives the name of one to the one around it. So nested work in
 * nested work that fails would go back to the inner savepoint, and keep what was before that.
 */
function keepName(inner: SequelizeTransaction, { savepoints }: SequelizeTransaction): void {
  const { name } = inner
  inner.savepoints = savepoints
  Object.defineProperty(inner, 'name', { get: () => name, set: () => {} })
}
