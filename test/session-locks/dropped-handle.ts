import { createHandle } from '../../src/locks/handle.ts'

/*
 * A process that drops handles: `node --expose-gc --import tsx dropped-handle.ts`.
 *
 * Says which warnings came, and how often something was released.
 */

const warnings: string[] = []
let released = 0
process.on('warning', ({ name, message }) => void warnings.push(`${name}: ${message}`))

const ending = (name: string) => ({
  name,
  release: async () => {
    released += 1
  },
  abandon: () => {},
})
const kept = createHandle({ key: 'kept' }, ending('the kept one'))
const dropAll = async (): Promise<void> => {
  createHandle({ key: 'dropped' }, ending('the dropped one'))
  const lost = new AbortController()
  createHandle({ key: 'lost' }, { ...ending('the lost one'), signal: lost.signal })
  lost.abort()
  await createHandle({ key: 'released' }, ending('the released one')).release()
  await using disposed = createHandle({ key: 'disposed' }, ending('the disposed one'))
  warnings.push(...(disposed.key === 'disposed' ? [] : ['?']))
}

await dropAll()
const collect = (): void => {
  globalThis.gc?.()
  if (warnings.length === 0) setTimeout(collect, 20)
  else setTimeout(() => process.send?.({ warnings, released, kept: kept.key }, () => process.exit()), 100)
}
collect()
