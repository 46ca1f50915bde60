import type { DeadlockedSession } from '../../core/deadlock.ts'
import type { LockKind, LockSeen } from '../../core/inspection.ts'
import { deadlockedSession } from '../deadlock-session.ts'

/** A deadlock graph, as the session `system_health` keeps it. */
export interface DeadlockGraph {
  /** In universal time. */
  readonly at: string | undefined
  readonly sessions: readonly DeadlockedSession[]
}

/**
 * Reads the XML of one `xml_deadlock_report`: the victims, the processes, and the resources with their owners and
 * waiters. Never throws: a ring buffer may cut it short.
 *
 * @see https://learn.microsoft.com/sql/relational-databases/sql-server-deadlocks-guide
 */
export function deadlockGraph(xml: string): DeadlockGraph {
  const victims = new Set(elements(xml, 'victimProcess').map(({ attributes }) => attributes.id))
  const [processList = ''] = elements(xml, 'process-list').map(({ inside }) => inside)
  const [resourceList = ''] = elements(xml, 'resource-list').map(({ inside }) => inside)
  const resources = resourcesIn(resourceList)
  const processes = elements(processList, 'process')
  const spids = new Map(processes.map(({ attributes }) => [attributes.id, attributes.spid ?? '']))
  const sessions = processes.map(({ attributes, inside }) => {
    const { id, spid, loginname, clientapp } = attributes
    const wanted = resources.find(({ waiters }) => waiters.some((one) => one.id === id))
    const held = resources.filter(({ owners }) => owners.some((one) => one.id === id))
    return deadlockedSession(
      {
        id: spid ?? '',
        isVictim: victims.has(id),
        holds: held.map((one) => lockOf(one, one.owners, id)),
      },
      {
        user: loginname,
        application: clientapp,
        statement: elements(inside, 'inputbuf')[0]?.text,
        waits: wanted && {
          lock: lockOf(wanted, wanted.waiters, id),
          blockedBy: wanted.owners.flatMap((one) => (one.id === id ? [] : (spids.get(one.id) ?? []))),
        },
      },
    )
  })
  return { at: elements(xml, 'event')[0]?.attributes.timestamp, sessions }
}

interface Part {
  readonly id: string | undefined
  readonly mode: string
}

interface Resource {
  readonly type: string
  readonly attributes: Attributes
  readonly owners: readonly Part[]
  readonly waiters: readonly Part[]
}

const kinds: Readonly<Record<string, LockKind>> = {
  keylock: 'row',
  ridlock: 'row',
  pagelock: 'table',
  hobtlock: 'table',
  objectlock: 'table',
  applicationlock: 'name',
  metadatalock: 'metadata',
  xactlock: 'transaction',
}

function resourcesIn(list: string): readonly Resource[] {
  return Object.keys(kinds).flatMap((type) =>
    elements(list, type).map(({ attributes, inside }) => ({
      type,
      attributes,
      owners: partsOf(inside, 'owner'),
      waiters: partsOf(inside, 'waiter'),
    })),
  )
}

function partsOf(inside: string, role: 'owner' | 'waiter'): readonly Part[] {
  return elements(inside, role).map(({ attributes: { id, mode = '' } }) => ({ id, mode }))
}

function lockOf({ type, attributes }: Resource, parts: readonly Part[], id: string | undefined): LockSeen {
  const mode = parts.find((one) => one.id === id)?.mode ?? attributes.mode ?? ''
  return { kind: kinds[type] ?? 'database', mode, on: thing(type, attributes) }
}

/** `objectname` is the database, the schema and the table. */
function thing(type: string, { objectname = 'a table', indexname, hash, id = '' }: Attributes): string {
  if (type === 'applicationlock') return `name ${hash ?? id}`
  if (type === 'metadatalock' || type === 'xactlock') return `${type.replace('lock', '')} ${id}`.trim()
  const index = indexname === undefined ? '' : ` (index ${indexname})`
  if (kinds[type] === 'row') return `a row of ${objectname}${index}`
  return `${type === 'pagelock' ? 'a page of' : 'table'} ${objectname}${index}`
}

type Attributes = Readonly<Record<string, string>>

interface Element {
  readonly attributes: Attributes
  readonly inside: string
  readonly text: string
}

/** Every element of a name. None of those that are read has one of its own name inside. */
function elements(xml: string, name: string): readonly Element[] {
  const tag = new RegExp(`<${name}(\\s[^<>]*?)?(?:/>|>([^]*?)</${name}>)`, 'g')
  return [...xml.matchAll(tag)].map(([, attributes = '', inside = '']) => ({
    attributes: Object.fromEntries(
      [...attributes.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, key = '', value = '']) => [key, plain(value)]),
    ),
    inside,
    text: plain(inside),
  }))
}

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' }

function plain(text: string): string {
  return text.replaceAll(/&(?:lt|gt|quot|apos|amp|#\d{1,7}|#x[\da-f]{1,6});/gi, (entity) => {
    const name = entity.slice(1, -1).toLowerCase()
    if (!name.startsWith('#')) return entities[name] ?? entity
    const code = name.startsWith('#x') ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1))
    return code <= 0x10_ff_ff ? String.fromCodePoint(code) : entity
  })
}
