import { noteDerived } from '../../core/derived.ts'
import { LockUsageError } from '../../core/errors.ts'
import { afterOthers, refuseEnd, toItsEnd } from '../orm/nesting.ts'
import { followCall, type NestedWork } from '../orm/wire.ts'

type Work = (em: Manager) => unknown

/** What is used of an `EntityManager`. */
export interface Manager {
  transactional: (work: Work, options?: NestingOptions) => Promise<unknown>
  begin: () => Promise<void>
  commit: () => Promise<void>
  rollback: () => Promise<void>
  flush: () => Promise<void>
  clear: () => void
  setTransactionContext: (context: object) => void
  resetTransactionContext: () => void
  fork: (options?: { readonly keepTransactionContext?: boolean }) => object
  createQueryBuilder: (entity: unknown) => { where: (where: unknown) => unknown }
  getUnitOfWork: () => UnitOfWork
  getMetadata: (entity: unknown) => { readonly tableName: string; readonly schema?: string }
}

interface UnitOfWork {
  computeChangeSets: () => void
  getChangeSets: () => readonly { readonly meta: EntityMeta; readonly type: string }[]
}

/** What MikroORM knows of a kind of entities; its root is that of all in the same table. */
export interface EntityMeta {
  readonly root: object
}

interface NestingOptions {
  readonly propagation?: string
}

/** Those that would take the statements of the work out of its transaction meanwhile. */
const leaving = new Set(['not_supported', 'requires_new'])

/** Those whose work is a part of the transaction that is there. */
const joining = new Set(['required', 'supports', 'mandatory'])

/** MikroORM gives another object to nested work, which is the same transaction, and names savepoints by their depth. */
export function keptInside<M extends Manager>(em: M): M {
  const nest = em.transactional.bind(em)
  em.transactional = async (work, options) => {
    if (typeof work !== 'function') throw new LockUsageError('work', 'must be a function')
    if (leaving.has(String(options?.propagation)))
      throw new LockUsageError(
        'propagation',
        'would leave the transaction: use the orm that the locks are of',
      )
    // there is no savepoint then, and the work may nest in what it joins
    if (joining.has(String(options?.propagation)))
      return followCall(em, async () => nest(() => work(em), options))
    const nested = (self: NestedWork, inner: Manager): Promise<unknown> => {
      noteDerived(inner, em)
      return toItsEnd(self, inner, async () => work(keptInside(inner)))
    }
    return afterOthers(em, (self) => nest((inner) => nested(self, inner), options))
  }
  for (const name of ['begin', 'commit', 'rollback'] as const) em[name] = async () => refuseEnd(name)
  em.resetTransactionContext = () => refuseEnd('resetTransactionContext')
  const { fork } = em
  em.fork = (options) => {
    if (options?.keepTransactionContext === true) throw keepsContext()
    return fork.call(em, options)
  }
  return em
}

/** Nobody would look after what it nests, or flush what it has changed. */
function keepsContext(): LockUsageError {
  return new LockUsageError(
    'keepTransactionContext',
    'is not available here: use tx itself, or tx.transactional',
  )
}

/** Throws where entities of that kind have changes: the locked rows would overwrite them. */
export function mustBeClean(em: Manager, { root }: EntityMeta): void {
  const uow = em.getUnitOfWork()
  uow.computeChangeSets()
  const isChanged = uow.getChangeSets().some(({ meta, type }) => meta.root === root && type !== 'create')
  if (isChanged)
    throw new LockUsageError(
      'query',
      'entities of it have changes that are not stored: lock rows before you change them, or flush before',
    )
}
