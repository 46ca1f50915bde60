import type { AttestedCapability, Finding } from '../../core/attestation.ts'
import type { Category } from '../../core/category.ts'
import { canonicalKey, type KeyPart } from '../../core/key.ts'
import { chosenLeaseName } from '../../core/lease-name.ts'
import { transactionPooler } from '../named/probe.ts'
import { throwIfLost } from './attempt.ts'
import { claimsOf, shown, type Capability } from './claims.ts'
import type { Ground } from './ground.ts'
import { tryLease } from './lease.ts'
import { tryNamed, trySession } from './named.ts'
import { createRecord, type Trials } from './record.ts'
import { removeRows, type Removal } from './remove.ts'
import { tryExclusive, tryShared } from './rows.ts'
import { tryTable } from './table.ts'
import { untried } from './verdict.ts'

/** What was tried, in the order in which it is shown, and what it says about the way to the server. */
export interface Attested {
  readonly capabilities: readonly AttestedCapability[]
  readonly findings: readonly Finding[]
}

/** Tries all that is claimed, and leaves nothing behind. `obstacle` is why nothing can be tried. */
export async function tryAll<Tx>(ground: Ground<Tx>, obstacle: string | undefined): Promise<Attested> {
  const record = createRecord(claimsOf(ground.server))
  const left = obstacle === undefined ? await tryEach(ground, record) : []
  const capabilities = shown.map((capability) => record.read(capability, obstacle))
  return { capabilities, findings: [...readPooler(capabilities), ...left] }
}

async function tryEach<Tx>(ground: Ground<Tx>, record: Trials): Promise<readonly Finding[]> {
  const keyFor = (use: string): readonly KeyPart[] => ['holdfast.attest', use, ground.id]
  const [named, session, lease] = [keyFor('name'), keyFor('session'), keyFor('lease')]
  const row = chosenLeaseName(lease)
  const rows = [row, ...(ground.tools.examination.leaseRow.guards ?? [])]
  if (ground.server.dialect.named.keptBy === 'lease')
    rows.push(canonicalKey(named).name, canonicalKey(session).name)
  let removal: Removal = { left: [] }
  try {
    await record.note('lease', () => tryLease(ground, lease))
    await onRow(ground, record, row)
    await record.note('advisory', () => tryNamed(ground, named))
    await record.note('advisory-session', () => trySession(ground, session))
  } finally {
    removal = await removeRows(ground, rows)
  }
  // a trial cannot tell a server that is gone from one that lets it wait
  throwIfLost(removal.error, ground.server)
  return isMade(record) ? removal.left : []
}

/** Whether there is a table of leases that can be written to. */
function isMade(record: Trials): boolean {
  const { observed } = record.read('lease')
  return observed === 'holds' || observed === 'broken'
}

/** What needs a row, or the table that it is in. */
async function onRow<Tx>(ground: Ground<Tx>, record: Trials, row: string): Promise<void> {
  if (!isMade(record)) {
    const why = untried(`there is no row of a lease to try on: ${record.read('lease').detail}`)
    for (const capability of needRow) await record.note(capability, async () => why)
    return
  }
  const trial = { ground, target: ground.tools.examination.leaseRow.target(row) }
  await record.note('row-exclusive', async () => tryExclusive(trial, record.isClaimed))
  await record.note('row-shared', () => tryShared(trial))
  await record.note('table', () => tryTable(ground))
}

const needRow: readonly Category[] = [
  'row-exclusive',
  'row-shared',
  'skip-locked',
  'nowait',
  'lock-timeout',
  'table',
]

function readPooler(capabilities: readonly AttestedCapability[]): readonly Finding[] {
  const session: Capability = 'advisory-session'
  const isPooler = ({ capability, observed, detail }: AttestedCapability): boolean =>
    capability === session && observed === 'refused' && detail === transactionPooler.reason
  return capabilities.some(isPooler) ? [pooler] : []
}

const pooler: Finding = {
  id: 'pooler-transaction-mode',
  severity: 'warning',
  title: 'a pooler gives each transaction a different server connection',
  why: 'A lock on a connection would stay behind where nobody owns it: Holdfast refuses such locks here. Locks on transactions and leases work.',
  mend: 'Use withLock(...) and lease(...), or for acquire(...) connect directly, or through a pooler in session mode.',
}
