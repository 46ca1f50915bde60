import { setTimeout as pause } from 'node:timers/promises'

import { LockError, type LockErrorCode } from '../../core/errors.ts'
import type { AcquireOptions } from '../../locks/named/acquire.ts'
import type { Held } from '../../locks/session-lock/hold.ts'
import { awakeMs } from '../awake.ts'
import type { Stage } from '../stage.ts'
import { describeValue } from '../trace.ts'

/** A lock of some client, which is released when the law is over. */
export interface Taking<Options> {
  readonly actor: string
  readonly key: string
  readonly options?: Options
}

/** Takes a lock that outlives transactions, for a law that needs to look at it. */
export async function takeHeld(stage: Stage, taking: Taking<AcquireOptions>): Promise<Held> {
  const { actor, key, options } = taking
  const { locks } = await stage.client(actor)
  const asked = locks.acquire(stage.keyOf(key), { signal: stage.signal, ...options })
  return kept(stage, { actor, does: `acquire ${key}`, asked })
}

interface Asked<T> {
  readonly actor: string
  readonly does: string
  readonly asked: Promise<T>
}

/** Writes down what is asked for, and gives it back at the end. */
export async function kept<T extends { readonly release: () => Promise<void> }>(
  stage: Stage,
  { actor, does, asked }: Asked<T>,
): Promise<T> {
  stage.tracer.watch(
    actor,
    does,
    asked.then(() => undefined),
  )
  const handle = await asked
  stage.atEnd(() => handle.release())
  return handle
}

/** Breaks the law unless this fails with an error of this code. */
export async function expectRefusal(
  stage: Stage,
  { does, code }: { readonly does: string; readonly code: LockErrorCode },
  work: Promise<unknown>,
): Promise<void> {
  const error = await work.then(
    () => undefined,
    (failure: unknown) => failure,
  )
  stage.expect(error !== undefined, `${does}: went through, and should have failed with ${code}`)
  const isSo = error instanceof LockError && error.code === code
  stage.expect(isSo, `${does}: failed with ${describeValue(error)}, not with ${code}`)
}

const everyMs = 15
const withinMs = 15_000

/** Looks again and again until it is so, and breaks the law when it never is. */
export async function until(stage: Stage, what: string, look: () => Promise<boolean>): Promise<void> {
  const deadline = awakeMs() + withinMs
  while (!(await look())) {
    stage.signal.throwIfAborted()
    stage.expect(awakeMs() < deadline, `${what}: not within ${withinMs} ms`)
    await pause(everyMs)
  }
}
