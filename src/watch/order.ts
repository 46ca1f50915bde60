import { AsyncLocalStorage } from 'node:async_hooks'

import { onlyKnown } from '../core/check-field.ts'
import { LockUsageError } from '../core/errors.ts'
import { transactionChannel } from '../events/channels.ts'
import { objectTo } from '../events/objection.ts'
import type { HoldEvent, LeaseEvent, LockEvent, StatementEvent, TransactionEvent } from '../events/shapes.ts'
import { listenTo, type Watch } from './listen.ts'
import { OrderGraph, type OrderCycle } from './order-graph.ts'
import { writeOrder } from './order-file.ts'
import { OrderHolder, type OrderLock } from './order-holder.ts'
import { leaseLock, namedLock, statementLock, tableLock } from './order-locks.ts'
import { cycleText } from './order-text.ts'
import { Places } from './places.ts'
import { RowCalls } from './row-calls.ts'
import { endsTransaction } from './statement-end.ts'
import { tellSafely } from './tell-safely.ts'

/** Locks are taken in opposite orders. */
export interface OrderReport {
  readonly cycle: OrderCycle
  /** All of it in one sentence. */
  readonly message: string
}

/** What is done when locks are taken in opposite orders. */
export interface OrderOptions {
  /**
   * `warn`: a warning of the process. `throw`: the transaction that closes the cycle rejects and is rolled back, and
   * what closes one outside of a transaction is a warning; for tests. A function is given each report. @default 'warn'
   */
  readonly onCycle?: 'warn' | 'throw' | ((report: OrderReport) => void)
  /** Where the order is written when the watch or the process ends, for `holdfast order`. Keys stand there in clear. */
  readonly file?: string
}

/** A watch of the order in which locks are taken. */
export interface OrderWatch extends Watch {
  /** Writes what was seen so far, to the file of the options or another one. */
  readonly write: (file?: string) => void
}

/**
 * Remembers which lock was asked for while which was held, in this process, and tells of the first opposite pair, though
 * no deadlock has happened. For development and tests: it reads every statement, and asks for the stack at each.
 *
 * @example
 * const order = watchOrder({ onCycle: 'throw' })
 * // here the tests run
 * order.stop()
 */
export function watchOrder(options: OrderOptions = {}): OrderWatch {
  onlyKnown(options, ['onCycle', 'file'])
  const { onCycle = 'warn', file } = options
  if (typeof onCycle !== 'function' && onCycle !== 'warn' && onCycle !== 'throw')
    throw new LockUsageError('onCycle', "is 'warn', 'throw' or a function")
  if (file !== undefined && (typeof file !== 'string' || file === ''))
    throw new LockUsageError('file', 'is the name of a file')
  const order = new Order(onCycle)
  const stop = order.listen()
  const write = (to = file): void => {
    if (to === undefined) throw new LockUsageError('file', 'name one, here or in the options')
    writeOrder(to, order.graph)
  }
  const atExit = (): void => write()
  if (file !== undefined) process.once('exit', atExit)
  return {
    write,
    stop: () => {
      stop()
      process.removeListener('exit', atExit)
      if (file !== undefined) write()
    },
  }
}

class Order {
  readonly graph = new OrderGraph()
  readonly #onCycle: NonNullable<OrderOptions['onCycle']>
  readonly #places = new Places()
  readonly #current = new AsyncLocalStorage<OrderHolder>()
  readonly #transactions = new WeakMap<TransactionEvent, OrderHolder>()
  /** Who holds what is asked for outside of a transaction. */
  readonly #holders = new WeakMap<HoldEvent, OrderHolder>()
  readonly #calls = new RowCalls()

  constructor(onCycle: NonNullable<OrderOptions['onCycle']>) {
    this.#onCycle = onCycle
  }

  listen(): () => void {
    const stop = listenTo({
      'tracing:holdfast:lock:start': (event: LockEvent) => this.#lockAsked(event),
      'tracing:holdfast:lock:asyncEnd': (event: LockEvent) => this.#lockAnswered(event),
      'holdfast:lock:ended': (event: LockEvent) => this.#ended(event),
      'tracing:holdfast:lease:start': (event: LeaseEvent) => this.#asked(event, leaseLock),
      'tracing:holdfast:lease:asyncEnd': (event: LeaseEvent) => this.#granted(event, leaseLock),
      'holdfast:lease:ended': (event: LeaseEvent) => this.#ended(event),
      'tracing:holdfast:statement:start': (event: StatementEvent) => this.#statement(event),
      // what has failed holds nothing
      'tracing:holdfast:statement:error': (event: StatementEvent) =>
        event.transaction && this.#transactions.get(event.transaction)?.release(event),
      'tracing:holdfast:transaction:asyncEnd': (event: TransactionEvent) =>
        this.#transactions.get(event)?.over(),
    })
    transactionChannel.start.bindStore(this.#current, (event) => {
      const transaction = event as TransactionEvent
      const holder = new OrderHolder(this.#current.getStore(), transaction)
      this.#transactions.set(transaction, holder)
      this.#places.note(event)
      return holder
    })
    return () => {
      stop()
      transactionChannel.start.unbindStore(this.#current)
    }
  }

  #lockAsked(event: LockEvent): void {
    const { kind, transaction } = event
    if (kind === 'table') return this.#asked(event, tableLock)
    if (kind !== 'rows') return this.#asked(event, namedLock)
    if (transaction?.showsStatements !== true) return this.#asked(event, tableLock)
    this.#calls.start(event)
  }

  #lockAnswered(event: LockEvent): void {
    const { kind, transaction } = event
    if (kind === 'table') this.#granted(event, tableLock)
    else if (kind !== 'rows') this.#granted(event, namedLock)
    else if (transaction?.showsStatements !== true) this.#granted(event, tableLock)
    else this.#calls.end(event)
  }

  #asked<Event extends LockEvent | LeaseEvent>(event: Event, lockOf: LockOf<Event>): void {
    this.#places.note(event)
    const transaction = 'transaction' in event ? event.transaction : undefined
    const holder = transaction === undefined ? this.#asker(event) : this.#holderOf(transaction)
    const lock = lockOf(event, this.#places.of(event))
    // one that is asked for again was learned from when it was asked for first
    if (lock !== undefined && waits(event) && !('first' in event)) this.#learn(holder, lock, transaction)
  }

  #granted<Event extends LockEvent | LeaseEvent>(event: Event, lockOf: LockOf<Event>): void {
    if (event.outcome !== 'granted') return this.#ended(event)
    const transaction = 'transaction' in event ? event.transaction : undefined
    const holder = transaction === undefined ? this.#holders.get(event) : this.#holderOf(transaction)
    const lock = lockOf(event, this.#places.of(event))
    if (holder === undefined || lock === undefined) return
    this.#holders.set(event, holder)
    if (!holder.hold(event, lock)) this.graph.leaveOut()
  }

  #ended(event: HoldEvent): void {
    const holder = this.#holders.get(event)
    if (holder?.transaction === undefined) holder?.over()
    else holder.release(event)
  }

  #statement(event: StatementEvent): void {
    const { transaction } = event
    if (transaction === undefined) return
    if (endsTransaction(event)) return
    const found = statementLock(event)
    if (found === undefined) return
    const holder = this.#holderOf(transaction)
    this.#places.note(event)
    const place = this.#places.of(event) ?? this.#places.of(transaction)
    const lock: OrderLock = { ...found.lock, place }
    const call = this.#calls.of(transaction)
    if (call === undefined ? found.waits : waits(call)) this.#learn(holder, lock, transaction)
    if (!holder.hold(event, lock)) this.graph.leaveOut()
  }

  #holderOf(transaction: TransactionEvent): OrderHolder {
    const known = this.#transactions.get(transaction)
    if (known !== undefined) return known
    const holder = new OrderHolder(undefined, transaction)
    this.#transactions.set(transaction, holder)
    return holder
  }

  /**
   * Who asks outside of a transaction: what follows in the same chain of calls is inside of it, and what runs beside it
   * is not. A lock that a transaction is opened with becomes that transaction's.
   */
  #asker(event: LockEvent | LeaseEvent): OrderHolder {
    const current = this.#current.getStore()?.nearest()
    const isOpening = 'kind' in event && event.kind !== 'session'
    const isInside = current?.transaction !== undefined && !isOpening
    const holder = isInside ? current : new OrderHolder(current)
    this.#holders.set(event, holder)
    if (!isOpening) this.#current.enterWith(holder)
    return holder
  }

  #learn(holder: OrderHolder, lock: OrderLock, transaction: TransactionEvent | undefined): void {
    for (const edge of holder.edgesTo(lock)) {
      const cycle = this.graph.add(edge)
      if (cycle !== undefined) this.#tell({ cycle, message: cycleText(cycle) }, transaction)
    }
  }

  #tell(report: OrderReport, transaction: TransactionEvent | undefined): void {
    if (this.#onCycle === 'throw' && transaction !== undefined)
      return objectTo(transaction, (isStored) => new LockUsageError('order', report.message, { isStored }))
    if (typeof this.#onCycle !== 'function')
      return process.emitWarning(report.message, 'HoldfastWarning', 'HOLDFAST_LOCK_ORDER')
    tellSafely('onCycle', this.#onCycle, report)
  }
}

type LockOf<Event> = (event: Event, place: OrderLock['place']) => OrderLock | undefined

/** Who does not wait closes no cycle. */
function waits({ wait }: LockEvent | LeaseEvent): boolean {
  return wait !== 'nowait' && wait !== 'skip'
}
