import type { CheckedTable } from '../../core/check-request.ts'
import type { PlanDraft } from '../../core/plan.ts'
import {
  emulated,
  native,
  stronger,
  unsupported,
  type Supported,
  type Unsupported,
} from '../../core/support.ts'
import { quoteTable, sql } from '../sql.ts'
import { syntax } from './syntax.ts'
import { lockWaitSeconds, wholeSeconds } from './timeout.ts'

/** What the servers of the family do differently with LOCK TABLES. */
export interface TableTraits {
  /** NOWAIT and WAIT n behind the tables. */
  readonly hasWaitClause: boolean
}

/**
 * LOCK TABLES as the manual wants it beside a transaction: with autocommit off and without START TRANSACTION, which
 * would unlock the tables. The transaction then begins with the first use of a table of InnoDB, so one is sent: from there
 * on the server says with every answer whether the transaction is still there.
 *
 * The level is not said. Seen on MySQL 9.7 and MariaDB 10.11: a SET TRANSACTION before has no effect, and one behind is
 * refused. But no other table can be used, and nobody else can change these: that is as much as any level asks for.
 *
 * @see https://dev.mysql.com/doc/refman/9.0/en/lock-tables.html
 */
export function table(request: CheckedTable, traits: TableTraits): PlanDraft | Unsupported {
  if (request.isolation === 'snapshot') return noSnapshot
  const { end, ...waiting } = waitChoice(request, traits)
  const name = quoteTable(syntax, request.table)
  const mode = request.mode === 'shared' ? 'READ' : 'WRITE'
  const aliases = request.aliases.map((alias) => `${name} AS ${syntax.quote(alias)} ${mode}`)
  return {
    support: moreThanAsked(request),
    ...waiting,
    atOnce: {
      before: [sql('SET autocommit = 0')],
      words: 'LOCK TABLES',
      tables: [`${name} ${mode}`, ...aliases],
      ...(end !== undefined && { end }),
      after: [sql(`DO (SELECT 1 FROM ${name} LIMIT 0)`)],
    },
    afterEnd: [sql('SET autocommit = 1'), sql('UNLOCK TABLES')],
  }
}

const noSnapshot = unsupported('InnoDB has no level of that name', "use isolation: 'repeatable read'")

function moreThanAsked({ mode, blockReaders }: CheckedTable): Supported {
  return mode === 'shared' || blockReaders
    ? native('table')
    : stronger('table', 'LOCK TABLES ... WRITE keeps readers out as well')
}

type WaitChoice = Pick<PlanDraft, 'waiting' | 'setting'> & {
  readonly support?: Supported
  readonly end?: string
}

function waitChoice({ wait }: CheckedTable, { hasWaitClause }: TableTraits): WaitChoice {
  if (wait === 'block') return { waiting: { by: 'server' } }
  if (wait === 'nowait' && hasWaitClause) return { end: 'NOWAIT', waiting: { by: 'nobody' } }
  const seconds = wait === 'nowait' ? 1 : wholeSeconds(wait.timeoutMs)
  const waiting = { by: 'server', timeoutMs: seconds * 1000 } as const
  if (hasWaitClause) return { end: `WAIT ${seconds}`, waiting }
  const setting = lockWaitSeconds(seconds, 'call')
  return wait === 'nowait'
    ? {
        setting,
        waiting: { ...waiting, isRefusal: true },
        support: emulated('table', 'the shortest wait for a table is one second'),
      }
    : { setting, waiting }
}
