import { adapterEntries } from '../../scripts/docs/adapter-entries.ts'

const queueOf = `queue({ table: 'job', id: 'id', orderBy: 'id', claim: { token: 'token', until: 'until' }, done: 'delete' })`

/** Where what `createLocks` gives cannot be told without what it is given. */
const locksOf: Readonly<Record<string, string>> = {
  kysely: "entry.KyselyLocks<object, 'postgres'>",
  prisma: "entry.PrismaLocks<object, 'postgres'>",
  'postgres-js': "entry.Locks<object, 'postgres'>",
  forge: "entry.Locks<object, 'postgres'>",
  testing: 'ReturnType<typeof entry.createTestLocks>',
}

/** What an application exports without saying its type: what the calls of an entry give, and the parts of that. */
function exporting(entry: string): string {
  const locks = locksOf[entry] ?? 'ReturnType<typeof entry.createLocks>'
  return `import * as entry from 'holdfast/${entry}'
import { queue, withTxRetry } from 'holdfast/${entry}'

declare const locks: ${locks}
type Tx = Parameters<Parameters<typeof locks.transaction>[0]>[0]

export { locks }
export const calls = { ...locks }
export const jobs = ${queueOf}
export const retried = () => withTxRetry(locks, (tx) => Promise.resolve(tx))
export const held = () => locks.acquire('a')
export const tried = () => locks.acquire('a', { wait: 'nowait' })
export const receipt = async () => ({ ...(await held()).receipt })
export const lease = () => locks.lease('a')
export const leaseParts = async () => ({ ...(await lease()) })
export const tryLock = () => locks.tryLock('a', async (tx, held) => ({ tx, held, ...held }))
export const once = (tx: Tx) => locks.once(tx, 'a', async () => 1)
export const inOrder = (tx: Tx) => locks.inOrder(tx, [{ table: 'job', key: { id: 1 } }])
export const claimed = () => locks.claim(jobs)
export const job = async () => ({ ...(await claimed())[0]! })
export const worked = () => locks.work(jobs, async () => {}, { signal: AbortSignal.abort() })
export const counted = () => locks.stats(jobs)
export const freed = () => locks.reclaim(jobs)
export const advised = () => locks.adviseIndexes(jobs)
export const seen = () => locks.inspect()
export const sessions = async () => (await seen()).sessions.map((one) => ({ ...one, holds: one.holds.map((lock) => ({ ...lock })) }))
export const waits = async () => (await seen()).sessions.map(({ waits }) => ({ ...waits }))
export const leases = async () => (await seen()).leases
export const attested = () => locks.attest()
export const capabilities = async () => (await attested()).capabilities.map((one) => ({ ...one }))
export const findings = async () => (await attested()).findings.map((one) => ({ ...one }))
export class Reports {
  take() {
    return locks.lease('report')
  }
}
`
}

/** A file for each entry that makes locks, by its name. */
export async function exportingFiles(): Promise<Readonly<Record<string, string>>> {
  const names = [...(await adapterEntries()).map(({ name }) => name), 'testing']
  return Object.fromEntries(names.map((name) => [`exports-${name}.ts`, exporting(name)]))
}
