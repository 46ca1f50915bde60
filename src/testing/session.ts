import { Flight } from '../adapters/flight.ts'
import { noteFailure } from '../adapters/note-failure.ts'
import { commandOnly } from '../adapters/statement-kind.ts'
import { floatingFailure, nothingToCommit } from '../adapters/transaction-end.ts'
import { withinSerializable, withoutMode } from '../adapters/transaction-start.ts'
import { LockUsageError } from '../core/errors.ts'
import { UnsentCommit, type Session, type TransactionStart } from '../core/session.ts'
import { isSql, type Row, type Statement } from '../core/statement.ts'
import type { Command } from './command.ts'
import { connectionLost, endsTransaction } from './error.ts'
import type { Connection, Memory } from './memory.ts'
import { carryOut, mustBeInOrder, type Place } from './statement.ts'
import { strike, strikeCommit } from './strike.ts'
import { lockTimeoutIn } from './timeout.ts'

/** A connection to the memory. It does what a driver and a server do together: one statement after another. */
export class MemorySession<Tx extends object> implements Session<Tx>, Connection {
  tx!: Tx
  readonly id: string
  readonly #memory: Memory
  readonly #makeTx: () => Tx
  readonly #flight = new Flight()
  readonly #tell = new Set<(why: Error) => void>()
  #line: Promise<unknown> = Promise.resolve()
  #open: Place | undefined
  /** `ending`: the error by which the transaction has ended before its time. */
  readonly witness: { failures: unknown[]; ending: unknown } = { failures: [], ending: undefined }
  #hasReturned = false
  #late: unknown
  #lost: Error | undefined
  #isOver = false

  constructor(memory: Memory, makeTx: () => Tx) {
    this.#memory = memory
    this.#makeTx = makeTx
    this.id = memory.nextId()
    memory.connections.add(this)
  }

  get isInTransaction(): boolean {
    return this.#open !== undefined
  }

  run = async (statement: Statement): Promise<readonly Row[]> => {
    const asked = isHeartbeat(statement) ? nothing : (commandOnly(statement).command as unknown as Command)
    this.#flight.start()
    const answer = this.#line.then(() => this.#answer(asked))
    this.#line = answer.catch(() => {})
    return answer.finally(this.#flight.land)
  }

  begin = async (start: TransactionStart = {}): Promise<readonly Row[]> => {
    withinSerializable(start)
    withoutMode(start)
    this.#mustBeThere()
    if (this.#open !== undefined) throw new LockUsageError('transaction', 'one is open on this connection')
    this.tx = this.#makeTx()
    this.#open = this.#placeOf(start)
    this.witness.ending = undefined
    this.witness.failures = []
    this.#hasReturned = false
    this.#late = undefined
    return []
  }

  untilIdle = (): Promise<void> | undefined => {
    this.#hasReturned = true
    return this.#flight.untilNone()
  }

  commit = async (): Promise<void> => {
    await this.untilIdle()
    if (this.#open !== undefined && this.#memory.faults.strikes('connection-lost') !== undefined) this.lose()
    if (this.#lost !== undefined) throw new UnsentCommit(this.#lost)
    if (this.witness.ending !== undefined || this.#open === undefined)
      throw nothingToCommit(this.witness.ending)
    if (this.#late !== undefined) throw floatingFailure(this.#late)
    try {
      mustBeInOrder(this.#open)
      strikeCommit(this.#memory)
    } catch (error) {
      this.#end(false)
      throw error
    }
    const unknown = this.#memory.faults.strikes('commit-unknown')
    this.#end(unknown?.isStored ?? true)
    if (unknown === undefined) return
    this.lose()
    throw connectionLost()
  }

  rollback = async (): Promise<void> => {
    if (this.#lost !== undefined) throw this.#lost
    this.#end(false)
    this.witness.ending = undefined
  }

  release = async (): Promise<void> => this.#leave(new Error('the connection was given back'))

  destroy = async (why: Error): Promise<void> => this.#leave(why)

  /** The network, or the server, has ended it. */
  lose = (): void => {
    if (this.#lost !== undefined || this.#isOver) return
    this.#lost = connectionLost()
    this.#forgetAll(this.#lost)
    for (const tell of this.#tell) tell(this.#lost)
    this.#tell.clear()
  }

  onLost = (tell: (why: Error) => void): (() => void) => {
    if (this.#lost === undefined) this.#tell.add(tell)
    else tell(this.#lost)
    return () => void this.#tell.delete(tell)
  }

  whyLost = (): Error | undefined => this.#lost

  async #answer(asked: Command): Promise<readonly Row[]> {
    this.#mustBeThere()
    if (this.witness.ending !== undefined) throw nothingToCommit(this.witness.ending)
    const open = this.#open
    try {
      if (this.#memory.faults.strikes('connection-lost') !== undefined) this.lose()
      this.#mustBeThere()
      const struck = strike(this.#memory, asked, open !== undefined)
      return struck ?? (open === undefined ? await this.#alone(asked) : await this.#inside(open, asked))
    } catch (error) {
      if (open !== undefined) this.#noteFailure(error)
      throw error
    }
  }

  /** In a transaction of its own, as a statement outside of one is. */
  async #alone(asked: Command): Promise<readonly Row[]> {
    const place = this.#placeOf({})
    let isDone = false
    try {
      const rows = await carryOut(place, asked)
      isDone = true
      return rows
    } finally {
      this.#settle(place, isDone)
    }
  }

  /** The transaction may be over by the time that the statement is. */
  async #inside(open: Place, asked: Command): Promise<readonly Row[]> {
    const rows = await carryOut(open, asked)
    if (this.#open === open) return rows
    this.#settle(open, false)
    throw this.#lost ?? new LockUsageError('tx', 'the transaction has ended')
  }

  #noteFailure(error: unknown): void {
    noteFailure(this.witness.failures, error)
    if (this.#hasReturned) this.#late ??= error
    if (!endsTransaction(error)) return
    this.witness.ending ??= error
    this.#end(false)
  }

  #placeOf(start: TransactionStart): Place {
    const { isolation = 'read committed', access } = start
    return {
      memory: this.#memory,
      by: this,
      seen: isolation.startsWith('read ') ? undefined : new Map(),
      isReadOnly: access === 'read-only',
      lockTimeoutMs: lockTimeoutIn(start),
      touched: new Set(),
    }
  }

  #end(isStored: boolean): void {
    if (this.#open !== undefined) this.#settle(this.#open, isStored)
    this.#open = undefined
  }

  #settle({ touched }: Place, isStored: boolean): void {
    for (const slot of touched) this.#memory.tables.settle(slot, isStored)
    this.#memory.locks.releaseAll(this, ['transaction'])
  }

  #mustBeThere(): void {
    if (this.#lost !== undefined) throw this.#lost
    if (this.#isOver) throw new LockUsageError('tx', 'the transaction has ended')
  }

  #leave(why: Error): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#tell.clear()
    this.#forgetAll(why)
  }

  #forgetAll(why: Error): void {
    this.#memory.locks.cancel(this, why)
    this.#end(false)
    this.#memory.locks.releaseAll(this, ['transaction', 'session'])
    this.#memory.connections.delete(this)
  }
}

const nothing: Command = { do: 'nothing' }

/** What a connection that holds locks is asked from time to time, whatever it is a connection to. */
function isHeartbeat(statement: Statement): boolean {
  return isSql(statement) && statement.sql === 'SELECT 1'
}
