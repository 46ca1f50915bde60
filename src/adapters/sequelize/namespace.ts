import type { Dress } from '../orm/dressed.ts'
import type { SequelizeInstance, SequelizeTransaction } from './instance.ts'
import { unknownSequelize } from './known.ts'

/** Where Sequelize keeps what `Sequelize.useCLS` was given, and how it uses that. */
const [kept, used] = ['_cls', '_clsRun'] as const

interface SequelizeClass {
  readonly [kept]?: Namespace
  readonly [used]?: unknown
  readonly useCLS?: unknown
}

/** What is used of a namespace of `cls-hooked`. */
interface Namespace {
  run(work: () => void): unknown
  set(name: 'transaction', value: object): unknown
}

/** Whoever uses Sequelize with a namespace leaves out `transaction`: without it, the work would be outside of its own. */
export function namespaceOf(
  sequelize: SequelizeInstance,
): NonNullable<Dress<object, SequelizeTransaction>['around']> {
  const Class = sequelize.constructor as SequelizeClass
  if (typeof Class.useCLS !== 'function' || typeof Class[used] !== 'function')
    throw unknownSequelize('its namespaces are used in another way')
  return (tx, work) => {
    // it may be given one at any time
    const namespace = Class[kept]
    return namespace === undefined ? work() : inside(namespace, tx, work)
  }
}

function inside<T>(namespace: Namespace, tx: object, work: () => Promise<T>): Promise<T> {
  return new Promise((resolve) => {
    namespace.run(() => {
      namespace.set('transaction', tx)
      resolve(work())
    })
  })
}
