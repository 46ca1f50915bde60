import type { SqlStatement } from '../core/statement.ts'
import type { Version } from '../core/version.ts'
import {
  countIn,
  readCounts,
  type Changes,
  type ClaimStatements,
  type ClaimTerms,
  type Counted,
  type HeldClaim,
  type QueueTable,
} from './claim.ts'
import { claimText, type ClaimSyntax, type ClaimText } from './claim-text.ts'

/** A change of rows that are picked in the queue's order. The parts are written when they are asked for. */
export interface PickedChange {
  readonly queue: QueueTable
  readonly text: ClaimText
  readonly where: () => string
  readonly set: () => string
  readonly limit: number
  readonly version: Version
}

/** What SQL engines do differently. */
export interface ClaimTraits {
  readonly syntax: ClaimSyntax
  /** Changes picked rows without waiting for those that others hold, and says how many. */
  readonly changePicked: (change: PickedChange) => Counted
  /** Changes one row, and says whether it was there. */
  readonly counted: (statement: SqlStatement) => Counted
}

type Shared = Pick<
  ClaimStatements,
  'complete' | 'release' | 'unclaim' | 'extend' | 'giveBack' | 'bury' | 'tally' | 'tallyDead'
>

/** The statements that are the same on every SQL engine, but for how rows are picked and counted. */
export function sqlClaims({ syntax, changePicked, counted }: ClaimTraits): Shared {
  const textOf = (queue: QueueTable): ClaimText => claimText(syntax, queue)
  const update = (queue: QueueTable, held: HeldClaim, set: (text: ClaimText) => string): Counted => {
    const text = textOf(queue)
    return counted(text.statement(`UPDATE ${text.table} SET ${set(text)} WHERE ${text.held(held)}`))
  }
  const remove = (queue: QueueTable, held: HeldClaim): Counted => {
    const text = textOf(queue)
    return counted(text.statement(`DELETE FROM ${text.table} WHERE ${text.held(held)}`))
  }
  return {
    complete: (queue, held, change) =>
      change === 'delete' ? remove(queue, held) : update(queue, held, (text) => text.setDone(change)),
    release: (queue, held, delayMs) => update(queue, held, (text) => text.setFree({}, delayMs)),
    unclaim: (queue, held) => update(queue, held, (text) => text.setUnclaimed()),
    extend: (queue, held, visibilityMs) => update(queue, held, (text) => text.setUntil(visibilityMs)),
    giveBack: (queue, limit, version) => {
      const text = textOf(queue)
      return changePicked({ queue, text, where: text.expired, set: text.setFree, limit, version })
    },
    bury: (queue, { set, limit }, version) => {
      const text = textOf(queue)
      const setDead = (): string => text.setFree(set)
      return changePicked({ queue, text, where: text.exhausted, set: setDead, limit, version })
    },
    tally: (queue) => {
      const text = textOf(queue)
      const statement = text.statement(`SELECT ${text.sums()} FROM ${text.from} WHERE ${text.matching()}`)
      return { statement, read: readCounts }
    },
    tallyDead: (queue, looks) => {
      const text = textOf(queue)
      return {
        statement: text.statement(`SELECT COUNT(*) AS n FROM ${text.from} WHERE ${text.meeting(looks)}`),
        read: countIn,
      }
    },
  }
}

/** Ends the claims on the rows that are found by the condition. */
export function endAll(text: ClaimText, change: Changes | 'delete', found: () => string): string {
  return change === 'delete'
    ? `DELETE FROM ${text.table} WHERE ${found()}`
    : `UPDATE ${text.table} SET ${text.setDone(change)} WHERE ${found()}`
}

/** Reads the rows of one claim in the queue's order. */
export function readClaimed(text: ClaimText, { token, limit }: ClaimTerms, columns: string): SqlStatement {
  return text.statement(
    `SELECT ${columns} FROM ${text.from} WHERE ${text.claimedBy(token)} ` +
      `ORDER BY ${text.order()} LIMIT ${text.value(limit)}`,
  )
}
