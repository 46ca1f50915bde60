import { setImmediate as turn } from 'node:timers/promises'

import { LockNotAvailableError, LockTimeoutError } from '../../src/core/errors.ts'
import type { Statement } from '../../src/core/statement.ts'
import type { Body, Step } from './body.ts'
import type { Ground, RowLock } from './ground.ts'
import type { Tongue } from './tongue.ts'

/** What one attempt of a body saw. */
export interface Attempt {
  /** Marks whose statement was answered, and those whose statement failed. */
  readonly stored: number[]
  readonly failed: number[]
  /** What the body heard, in the order in which it did. */
  readonly errors: unknown[]
  /** The body ended, or began, the transaction by itself, and nobody refused it. */
  hasSaid: boolean
  isKilled: boolean
  /** Rows that were granted exclusively. */
  readonly granted: Set<number>
  /** Errors besides those that leave a transaction as it was. */
  isHurt: boolean
  /** Whether a row that it had was free for another at its end, while nothing had happened to the transaction. */
  isRobbed: boolean
  /** The same, while statements were under way: one of them may have ended it, and the body had not heard of it. */
  mayBeRobbed: boolean
}

export interface Outcome {
  readonly error: unknown
  readonly isOk: boolean
  readonly isAborted: boolean
  readonly attempts: readonly Attempt[]
  /** Marks that were left after the call, and that nobody refused. */
  readonly late: readonly number[]
}

export interface Stage<Tx> {
  readonly ground: Ground<Tx>
  readonly tongue: Tongue
  /** Ends a connection from the server's side. */
  readonly kill: (id: string) => Promise<void>
  /** Whether another session could lock the row now; undefined where that cannot be asked. */
  readonly isFree?: (row: number) => Promise<boolean>
  /** Told what the body has and wants, for the rival. */
  readonly tell: (what: 'has' | 'wants', row: number) => void
}

/** Runs the body through the library, and waits for everything that it has started. */
export async function perform<Tx>(stage: Stage<Tx>, body: Body, run: number): Promise<Outcome> {
  const aborting = new AbortController()
  const attempts: Attempt[] = []
  const started: Promise<unknown>[] = []
  let last: Actor<Tx> | undefined
  const work = (tx: Tx): Promise<void> => {
    const seen = newAttempt()
    attempts.push(seen)
    last = new Actor({ stage, tx, seen, run, attempt: attempts.length, aborting, started })
    const playing = last.play(body)
    started.push(playing.catch(() => {}))
    return playing
  }
  const { ground } = stage
  if (body.hasTwin) started.push(twin(stage))
  if (body.network !== undefined) ground.breakNetwork?.(body.network)
  const outcome = await callOf(ground, body, { work, signal: aborting.signal }).then(
    () => ({ isOk: true, error: undefined }),
    (error: unknown) => ({ isOk: false, error }),
  )
  ground.mendNetwork?.()
  const late: number[] = []
  for (const [index] of body.late.entries()) {
    const step = 1000 + index
    await last?.mark(step).then(
      () => late.push(step),
      () => {},
    )
  }
  for (let seen = 0; seen < started.length; seen = started.length) await Promise.all(started)
  for (const seen of attempts) seen.isRobbed ||= seen.mayBeRobbed && !seen.isHurt
  return { ...outcome, isAborted: aborting.signal.aborted, attempts, late }
}

interface Call<Tx> {
  readonly work: (tx: Tx) => Promise<void>
  readonly signal: AbortSignal
}

function callOf<Tx>({ locks }: Ground<Tx>, body: Body, { work, signal }: Call<Tx>): Promise<void> {
  const options = { ...body.options, signal }
  return body.call === 'withLock'
    ? locks.withLock(['fuzz', 1], work, options)
    : locks.transaction(work, options)
}

/** Another call for the lock of the body, which takes a number as well. What becomes of it by itself is of no interest. */
async function twin<Tx>({ ground, tongue }: Stage<Tx>): Promise<void> {
  const { number } = tongue
  if (number === undefined) return
  await ground.locks.withLock(['fuzz', 1], (tx) => ground.send(tx, number.take)).catch(() => {})
}

function newAttempt(): Attempt {
  return {
    stored: [],
    failed: [],
    errors: [],
    hasSaid: false,
    isKilled: false,
    granted: new Set(),
    isHurt: false,
    isRobbed: false,
    mayBeRobbed: false,
  }
}

interface Part<Tx> {
  readonly stage: Stage<Tx>
  readonly tx: Tx
  readonly seen: Attempt
  readonly run: number
  readonly attempt: number
  readonly aborting: AbortController
  readonly started: Promise<unknown>[]
}

/** Plays one attempt of a body. */
class Actor<Tx> {
  readonly #part: Part<Tx>
  #steps = 0
  #underWay = 0

  constructor(part: Part<Tx>) {
    this.#part = part
  }

  async play({ steps, end, hasTwin }: Body): Promise<void> {
    const { stage, tx } = this.#part
    const { number } = stage.tongue
    if (hasTwin && number !== undefined) await this.#watch(stage.ground.send(tx, number.take))
    await this.#takeAll(steps)
    await this.#look()
    if (end === 'throw') throw new Error('on purpose')
  }

  async mark(step: number): Promise<unknown> {
    const { stage, tx, run, attempt } = this.#part
    return stage.ground.send(tx, stage.tongue.mark({ run, attempt, step }))
  }

  async #takeAll(steps: readonly Step[]): Promise<void> {
    for (const step of steps) await this.#take(step)
  }

  async #take(step: Step): Promise<void> {
    const doing = this.#do(step)
    this.#part.started.push(doing.catch(() => {}))
    if (step.manner === 'await') await doing
    else if (step.manner === 'catch') await doing.catch(() => {})
  }

  /** Async, so that a driver which throws at once is one that rejects. */
  async #do(step: Step): Promise<unknown> {
    const { stage, tx, seen, aborting } = this.#part
    const { ground, tongue } = stage
    switch (step.do) {
      case 'write':
        return this.#write((number) => this.mark(number))
      case 'helper':
        return this.#write(async (number) => {
          const { run, attempt } = this.#part
          const mark = tongue.mark({ run, attempt, step: number })
          await ground.inTransactionOf?.(tx, (inner) => ground.send(inner, mark))
        })
      case 'bump':
        return this.#touch(step.row, true, ground.send(tx, tongue.bump(step.row)))
      case 'fail':
        return this.#watch(ground.send(tx, tongue[step.by] ?? tongue.nonsense))
      case 'rows':
        return this.#touch(
          step.row,
          step.mode === 'exclusive' && step.wait !== 'skip',
          ground.rows(tx, lockOf(step)),
          step.savepoint,
        )
      case 'name':
        return this.#watch(ground.locks.lock(tx, ['fuzz', 2], { wait: step.wait }))
      case 'say':
        await this.#watch(ground.say(tx, step.word))
        seen.hasSaid = true
        return undefined
      case 'stream':
        return this.#watch(ground.stream?.(tx, streamed(tongue, step.of)) ?? turn())
      case 'kill':
        if (this.#part.attempt > 1) return undefined
        seen.isKilled = true
        return stage.kill(ground.idOf?.(tx) ?? '')
      case 'abort':
        // not waited for, whatever its manner: it is to come while the body is somewhere else
        return void microtasks(step.after).then(() => aborting.abort(new Error('aborted on purpose')))
      case 'turn':
        return turn()
      case 'together':
        return Promise.all(step.steps.map((inner) => this.#take(inner)))
      case 'sequence':
        return this.#takeAll(step.steps)
    }
  }

  async #write(send: (step: number) => Promise<unknown>): Promise<void> {
    const step = (this.#steps += 1)
    this.#underWay += 1
    try {
      await send(step)
      this.#part.seen.stored.push(step)
    } catch (error) {
      this.#part.seen.failed.push(step)
      this.#part.seen.errors.push(error)
      this.#part.seen.isHurt = true
      throw error
    } finally {
      this.#underWay -= 1
    }
  }

  async #watch<T>(statement: Promise<T>, isSaved = false): Promise<T> {
    this.#underWay += 1
    try {
      return await statement
    } catch (error) {
      const isMild = error instanceof LockNotAvailableError || error instanceof LockTimeoutError
      if (!isSaved || !isMild) this.#part.seen.isHurt = true
      this.#part.seen.errors.push(error)
      throw error
    } finally {
      this.#underWay -= 1
    }
  }

  async #touch(
    row: number,
    isExclusive: boolean,
    statement: Promise<unknown>,
    isSaved = false,
  ): Promise<void> {
    const { stage, seen } = this.#part
    stage.tell('wants', row)
    await this.#watch(statement, isSaved)
    if (isExclusive) seen.granted.add(row)
    stage.tell('has', row)
  }

  /** Before the end: is what was granted still held? */
  async #look(): Promise<void> {
    const { stage, seen, aborting } = this.#part
    const isSound = (): boolean => !seen.isHurt && !seen.hasSaid && !seen.isKilled && !aborting.signal.aborted
    if (stage.isFree === undefined || seen.granted.size === 0 || !isSound()) return
    for (const row of seen.granted) {
      const isAlone = this.#underWay === 0
      if (!(await stage.isFree(row)) || !isSound()) continue
      if (isAlone) seen.isRobbed = true
      else seen.mayBeRobbed = true
    }
  }
}

function lockOf({ row, mode, wait, savepoint }: RowLock): RowLock {
  return { row, mode, wait, savepoint }
}

function streamed({ nonsense, read, readLocked = read }: Tongue, of: string): Statement {
  if (of === 'nonsense') return nonsense
  return of === 'rows' ? read : readLocked
}

async function microtasks(count: number): Promise<void> {
  for (let left = count; left > 0; left -= 1) await Promise.resolve()
}
