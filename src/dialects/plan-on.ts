import { categories, isCategory, type Category } from '../core/category.ts'
import { checkRequest, type Ask } from '../core/check-request.ts'
import { LockUsageError, UnsupportedLockError } from '../core/errors.ts'
import type { Plan, PlanDraft } from '../core/plan.ts'
import type { RequestOf } from '../core/request.ts'
import { isUnsupported, unsupported, type Unsupported } from '../core/support.ts'
import { isAtLeast, type Version } from '../core/version.ts'
import type { Dialect } from './dialect.ts'

/** The plan for a lock on a server whose version has been read. Throws where it cannot be given. */
export function planOn<C extends Category>(
  { dialect, version }: KnownServer,
  category: C,
  request: RequestOf<C>,
): Plan {
  if (!isCategory(category)) {
    throw new LockUsageError('category', `${JSON.stringify(category)} is not one of ${categories.join(', ')}`)
  }
  const ask = checkRequest(category, request)
  const draft = tooOld(dialect, version) ?? draftOf(dialect, ask, version)
  if (isUnsupported(draft)) throw new UnsupportedLockError(dialect.name, ask.category, draft)
  if (ask.request.exact && draft.support.level !== 'native') {
    throw new UnsupportedLockError(dialect.name, ask.category, notExact(draft))
  }
  return {
    mode: ask.request.mode,
    scope: 'transaction',
    needs: [],
    beforeBegin: [],
    inTransaction: [],
    afterEnd: [],
    ...draft,
    dialect: dialect.name,
    category: ask.category,
  }
}

/** What a server is. */
export interface KnownServer {
  readonly dialect: Dialect
  readonly version: Version
}

function draftOf(dialect: Dialect, ask: Ask, version: Version): PlanDraft | Unsupported {
  if (ask.category === 'advisory') return callCell(dialect.cells.advisory, ask.request, version)
  if (ask.category === 'table') return callCell(dialect.cells.table, ask.request, version)
  return callCell(dialect.cells[ask.category], ask.request, version)
}

function callCell<R>(
  cell: Unsupported | ((request: R, version: Version) => PlanDraft | Unsupported),
  request: R,
  version: Version,
): PlanDraft | Unsupported {
  return typeof cell === 'function' ? cell(request, version) : cell
}

function tooOld(dialect: Dialect, version: Version): Unsupported | undefined {
  if (isAtLeast(version, oldestOf(dialect))) return undefined
  const { oldest } = dialect.versions
  return unsupported(
    `${dialect.title} ${version.join('.')} is older than ${oldest}`,
    `use ${dialect.title} ${oldest} or newer`,
  )
}

const oldestVersions = new WeakMap<Dialect, Version>()

/** Read once: every lock on a row is planned anew. */
function oldestOf(dialect: Dialect): Version {
  const known = oldestVersions.get(dialect)
  if (known !== undefined) return known
  const oldest = dialect.readVersion(dialect.versions.oldest)
  oldestVersions.set(dialect, oldest)
  return oldest
}

function notExact({ support }: PlanDraft): Unsupported {
  return unsupported(
    `only a lock that is ${support.level} is available (${support.note})`,
    'ask without exact',
  )
}
