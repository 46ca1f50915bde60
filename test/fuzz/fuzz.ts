import { setTimeout as pause } from 'node:timers/promises'

import type { Engine } from '../engines/engine.ts'
import { until } from '../engines/until.ts'
import { randomFrom } from '../faults/random.ts'
import { describeBody, type Body } from './body.ts'
import { generateBody } from './generate.ts'
import type { Ground, Way } from './ground.ts'
import { judge } from './judge.ts'
import { judgeError } from './judge-error.ts'
import { perform, type Stage } from './perform.ts'
import { openProbe } from './probe.ts'
import { noRival, startRival } from './rival.ts'
import { shrink } from './shrink.ts'
import { markOf, tongueOf } from './tongue.ts'

/** A body for which a promise was broken. */
export interface Finding {
  readonly seed: number
  readonly what: string
  readonly body: Body
}

export function describeFinding({ seed, what, body }: Finding): string {
  return `${what}\nseed ${seed}\n${describeBody(body)}`
}

/** Makes a database and opens it; whoever called closes it. */
export type Connect = () => Promise<Engine>

export interface FuzzOptions {
  readonly seed: number
  /** Told the number of bodies so far; no more are tried when it says no. */
  readonly goOn: (bodies: number) => boolean
  /** Whether the shortest body is looked for that shows the same. @default true */
  readonly isShrunk?: boolean
}

/** The library learns from each server and pool. What it does before it has, is tried again and again. */
const bodiesOfOne = 25

/** Whatever is not over by then hangs. Nothing that ends, ends later, even on a machine that is ten times slower. */
const patienceMs = 120_000

/** Tries random bodies until one breaks a promise, and gives the shortest that still does; or nothing. */
export async function fuzz(way: Way, connect: Connect, options: FuzzOptions): Promise<Finding | undefined> {
  let arena = await openArena(way, connect)
  try {
    for (let bodies = 0; options.goOn(bodies); bodies += 1) {
      if (bodies % bodiesOfOne === bodiesOfOne - 1) {
        await arena.close()
        arena = await openArena(way, connect)
      }
      const seed = options.seed + bodies
      const body = generateBody(randomFrom(seed), arena.ground)
      const what = await arena.tryOut(body)
      if (what === undefined) continue
      const isShrunk = options.isShrunk ?? true
      return { seed, what, body: isShrunk ? await shrink(body, failsLike(what, way, connect)) : body }
    }
    return undefined
  } finally {
    await arena.close()
  }
}

/** Whether a body breaks the same promise, in a database of its own: what the first has left behind must not count. */
function failsLike(what: string, way: Way, connect: Connect): (body: Body) => Promise<boolean> {
  return async (body) => {
    const arena = await openArena(way, connect)
    try {
      return kindOf(await arena.tryOut(body)) === kindOf(what)
    } finally {
      await arena.close()
    }
  }
}

/** What was broken, without the particulars. */
function kindOf(what: string | undefined): string | undefined {
  return what?.split(/[;:]/, 1)[0]
}

interface Arena {
  readonly ground: Ground<unknown>
  /** What went wrong, or nothing. */
  readonly tryOut: (body: Body) => Promise<string | undefined>
  readonly close: () => Promise<void>
}

async function openArena(way: Way, connect: Connect): Promise<Arena> {
  const engine = await connect()
  const tongue = tongueOf(engine.server.engine)
  const observer = await engine.open()
  for (const statement of tongue.create) await observer.run(statement)
  const ground = await way.open(engine.server.url, engine.server.engine)
  const probe = await openProbe(engine)
  const clean = (await settled(ground)).join()
  const unhandled: unknown[] = []
  const note = (error: unknown): number => unhandled.push(error)
  process.on('unhandledRejection', note)
  process.on('uncaughtException', note)
  let run = 0
  let isStuck = false
  const check = async (body: Body): Promise<string | undefined> => {
    run += 1
    const rival = body.hasRival ? await startRival(engine, tongue) : noRival
    const stage: Stage<unknown> = {
      ground,
      tongue,
      kill: (id) => engine.kill({ id, ...unusable }),
      tell: rival.tell,
      ...(probe && { isFree: probe.isFree }),
    }
    const outcome = await perform(stage, body, run)
    await rival.end()
    const left = await leftOn(engine)
    if (left !== undefined) return `left on the server: ${left}`
    const stored = (await observer.run(tongue.marks(run))).map(markOf)
    const now = (await settled(ground)).join()
    if (now !== clean) return `left on a connection of the pool: ${now}, not ${clean}`
    const [double] = tongue.number === undefined ? [] : await observer.run(tongue.number.twice)
    if (double !== undefined) return 'two who held the same lock took the same number'
    if (unhandled.length > 0) return `unhandled: ${unhandled.splice(0).map(String).join()}`
    return (
      judge(outcome, stored) ??
      judgeError(outcome, body, {
        isRefused: ground.isRefused?.(body),
        tongue,
      })
    )
  }
  return {
    ground,
    tryOut: async (body) => {
      const late = pause(patienceMs, 'it never ended', { ref: false })
      const what = await Promise.race([
        check(body).catch((error: unknown) => `the fuzzer itself failed: ${String(error)}`),
        late,
      ])
      isStuck = what === 'it never ended'
      return what
    },
    close: async () => {
      process.off('unhandledRejection', note)
      process.off('uncaughtException', note)
      if (isStuck) return
      await probe?.close()
      await ground.close()
      await observer.close()
      await engine.close()
    },
  }
}

/** The engine only needs the name of a session to end it. */
const unusable = {
  run: () => Promise.reject(new Error('this session is only named')),
  begin: async () => {},
  commit: async () => {},
  rollback: async () => {},
  close: async () => {},
}

/** A connection that broke is noticed by the pool a moment later. */
async function settled(ground: Ground<unknown>): Promise<readonly string[]> {
  const lines = await ground.settings()
  return new Set(lines).size > 1 ? ground.settings() : lines.slice(0, 1)
}

async function leftOn(engine: Engine): Promise<string | undefined> {
  let lines: readonly string[] = []
  const isClean = async (): Promise<boolean> => {
    lines = await engine.leftovers()
    return lines.length === 0
  }
  return until(isClean, 'an engine on which nothing is left').then(
    () => undefined,
    () => lines.join(', '),
  )
}
