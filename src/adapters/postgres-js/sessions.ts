import { dirname } from 'node:path'

import {
  released,
  UnsentCommit,
  type Session,
  type Sessions,
  type TransactionStart,
} from '../../core/session.ts'
import type { Row, SqlStatement } from '../../core/statement.ts'
import { dressed } from '../orm/dressed.ts'
import type { CancelTarget } from '../pg/cancel.ts'
import { cancelUntil } from '../pg/end-backend.ts'
import { traits as pgTraits } from '../pg/traits.ts'
import { sqlOnly } from '../statement-kind.ts'
import type { TransactionBody } from '../transaction-body.ts'
import { PostgresJsBody } from './body.ts'
import { commandOf, lastOf, Own } from './own.ts'
import { allOf, writtenAtOnce, type PostgresJsOptions, type PostgresJsSql } from './driver.ts'
import { pin, type Pinned } from './pinned.ts'
import { mustBeSql } from './usual.ts'
import { viewOn } from './view.ts'

/** Sessions on the connections of postgres.js. The work receives the application's own `sql`, on one of them. */
export function sessions(sql: PostgresJsSql): Sessions<object> {
  mustBeSql(sql)
  const open = async (): Promise<Session<PostgresJsBody>> => sessionOf(sql, await pin(sql))
  return dressed(
    { adapter: 'postgres-js', source: sql, open },
    {
      on: (body, wire) => {
        body.wire = wire
        return viewOn(sql, body)
      },
      around: async (_, work) => allOf(await work()),
    },
  )
}

function sessionOf(sql: PostgresJsSql, pinned: Pinned): Session<PostgresJsBody> {
  const body = new PostgresJsBody(pinned, sql.CLOSE)
  const { pid, secret } = pinned.backend
  return {
    tx: body,
    ...statementsOn(new Own(sql, pinned), body),
    untilIdle: () => {
      body.returned()
      return undefined
    },
    release: () => {
      body.state.over()
      pinned.release()
      return released
    },
    destroy: async (why) => {
      body.state.over()
      const backend = { processID: pid, secretKey: secret }
      const targets = hostsOf(sql.options).map((host) => Object.assign(host, backend))
      await cancelUntil(pinned.destroy(why), targets)
    },
    onLost: (tell) => pinned.onLost(tell),
    whyLost: () => pinned.whyLost,
    witness: body.state,
    ...(pid !== null && { backend: String(pid) }),
  }
}

type Statements = Pick<Session, 'run' | 'begin' | 'commit' | 'rollback' | 'stored'>

function statementsOn(own: Own, body: PostgresJsBody): Statements {
  const { state } = body
  let isBegun = false
  const rollback = async (): Promise<void> => {
    body.giveUp()
    // where there is none the server warns, which postgres.js prints
    if (isBegun) await own.ask(writtenAtOnce('ROLLBACK'))
    isBegun = false
    state.over()
  }
  const undo = async (reason: unknown): Promise<never> => {
    // where that fails, the connection is gone, and the transaction with it
    if (isBegun) await rollback().catch(() => {})
    throw reason
  }
  return {
    run: async (statement) => run(own, sqlOnly(statement), body),
    begin: async (start = {}) => {
      const text = beginText(start)
      body.begin()
      isBegun = true
      return own.ask(text).then(rowsOf, undo)
    },
    commit: async () => {
      body.close()
      if (own.whyLost !== undefined) throw new UnsentCommit(own.whyLost)
      // not every failure is one that the server knows of, such as a cursor that was left open
      if (state.end !== undefined) return undo(state.end)
      const tag = commandOf(await own.ask(writtenAtOnce('COMMIT')))
      isBegun = false
      committed(state, tag)
    },
    rollback,
    stored: () => state.stored,
  }
}

function committed(state: TransactionBody, tag: string | null): void {
  // the server answers COMMIT of a failed transaction with ROLLBACK, and with no error
  if (tag !== 'COMMIT') state.told(false)
  const { end } = state
  state.over()
  if (end !== undefined) throw end
}

async function run(
  own: Own,
  { sql, params, isPrepared }: SqlStatement,
  { state }: PostgresJsBody,
): Promise<readonly Row[]> {
  if (state.end !== undefined) throw state.end
  if (state.isOpen) state.sends(sql, params)
  try {
    const rows = rowsOf(await own.ask(sql, params, isPrepared === true && !state.isOpen))
    state.succeeded()
    return rows
  } catch (error) {
    state.failed(error, false)
    throw error
  }
}

function rowsOf(answer: unknown): readonly Row[] {
  return [...lastOf(answer)]
}

/** One message without values. */
function beginText(start: TransactionStart): string {
  return pgTraits.begin(start)?.join('; ') ?? 'BEGIN'
}

/** Which of several a connection is to, postgres.js tells nobody. */
function hostsOf({
  host,
  port,
  path,
}: PostgresJsOptions): readonly Required<Pick<CancelTarget, 'host' | 'port'>>[] {
  const ports = [port].flat()
  if (typeof path === 'string') return ports.slice(0, 1).map((one) => ({ host: dirname(path), port: one }))
  return [host].flat().map((one, place) => ({ host: one, port: ports[place] ?? ports[0] ?? 5432 }))
}
