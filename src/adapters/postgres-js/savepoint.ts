import { noteDerived } from '../../core/derived.ts'
import { LockUsageError } from '../../core/errors.ts'
import { afterOthers, toItsEnd } from '../orm/nesting.ts'
import type { NestedWork } from '../orm/wire.ts'
import { allOf } from './driver.ts'

type Work = (tx: object) => unknown

export interface Nesting {
  readonly send: (text: string) => PromiseLike<unknown>
  /** Another object of the same transaction. */
  readonly inner: () => object
}

/** As `savepoint` of postgres.js: when the work inside throws, what it has done is undone, and only that. */
export function savepointOn(
  tx: object,
  nesting: Nesting,
): (first: unknown, second?: unknown) => Promise<unknown> {
  let count = 0
  return async (first, second) => {
    const work = (second ?? first) as Work
    if (typeof work !== 'function')
      throw new LockUsageError('work', 'a savepoint needs a function: savepoint(name, async (tx) => {})')
    count += 1
    const name = second === undefined ? `s${count}` : `s${count}_${String(first)}`
    const quoted = `"${name.replaceAll('"', '""')}"`
    return afterOthers(tx, (self) => nested(self, { ...nesting, work, name: quoted }))
  }
}

interface Nested extends Nesting {
  readonly work: Work
  readonly name: string
}

async function nested(self: NestedWork, { send, inner, work, name }: Nested): Promise<unknown> {
  const own = inner()
  noteDerived(own, self.of)
  await send(`SAVEPOINT ${name}`)
  try {
    const value = await toItsEnd(self, own, async () => allOf(await work(own)))
    await send(`RELEASE SAVEPOINT ${name}`)
    return value
  } catch (error) {
    await send(`ROLLBACK TO SAVEPOINT ${name}`)
    throw error
  }
}
