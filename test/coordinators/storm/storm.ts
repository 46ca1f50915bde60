import { fork, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'

import type { StartedServer } from '../../engines/engine.ts'
import { startEtcd } from '../../engines/etcd-server.ts'
import { programOf } from '../../engines/program.ts'
import { randomFrom } from '../../faults/random.ts'
import { judge, type Verdict } from './judge.ts'
import { entriesIn, type Entry } from './log.ts'

export interface StormPlan {
  readonly processes: number
  readonly ttlMs: number
  /** How long all members are left alone before the next one is killed. It comes back after a quarter of that. */
  readonly memberEveryMs: number
  readonly seed: number
  /** Where the holders write. */
  readonly log: string
  /** Gives every process a lease of its own: they then exclude nobody. */
  readonly isWithoutLock?: boolean
  /** Asked again and again, with what the log proves until then. */
  readonly goOn: (done: Done, verdict: Verdict) => boolean
}

/** What was done to the processes and to the cluster until now. */
export interface Done {
  kills: number
  /** Of those, how many had the lease just before. */
  holdersKilled: number
  stops: number
  holdersStopped: number
  /** How many members were killed and are back. */
  membersKilled: number
}

export type StormResult = Done & Verdict

/**
 * Processes contend for one lease of an etcd cluster of three, while they are killed and stopped at random, and one member
 * after another is killed too. What their log proves is the result.
 */
export async function storm(plan: StormPlan): Promise<StormResult> {
  await writeFile(plan.log, '')
  const members = [...(await startEtcd(3)).members]
  const crowd = await gather(plan, members.map(({ server }) => server.url).join(','))
  const done: Done = { kills: 0, holdersKilled: 0, stops: 0, holdersStopped: 0, membersKilled: 0 }
  const over = new AbortController()
  try {
    const failing = failMembers(plan, { members, done, over: over.signal })
    const troubling = trouble(
      { ...plan, goOn: (...so) => !over.signal.aborted && plan.goOn(...so) },
      crowd,
      done,
    )
    await Promise.race([failing, troubling]).finally(() => over.abort())
    await Promise.all([failing, troubling])
  } finally {
    await crowd.end()
    await Promise.all(members.map(({ stop }) => stop()))
  }
  return { ...done, ...judge(await entriesOf(plan.log)) }
}

interface Crowd {
  readonly processes: readonly ChildProcess[]
  /** Another one takes its place. */
  readonly kill: (child: ChildProcess) => Promise<void>
  readonly end: () => Promise<void>
}

async function gather(
  { processes, ttlMs, log, isWithoutLock }: StormPlan,
  endpoints: string,
): Promise<Crowd> {
  const program = await programOf(new URL('contender.ts', import.meta.url))
  const key = randomUUID()
  const all: ChildProcess[] = []
  const start = (): void => {
    const words = [endpoints, isWithoutLock === true ? randomUUID() : key, String(ttlMs), log]
    all.push(fork(program, words, { execArgv: [] }))
  }
  const kill = async (child: ChildProcess): Promise<void> => {
    all.splice(all.indexOf(child), 1)
    const gone = once(child, 'exit')
    // also ends one that is stopped; says whether it was there to be killed
    if (!child.kill('SIGKILL')) throw new Error(`a contender has ended by itself, with ${child.exitCode}`)
    await gone
  }
  for (let count = 0; count < processes; count += 1) start()
  return {
    processes: all,
    kill: async (child) => {
      await kill(child)
      start()
    },
    end: async () => void (await Promise.allSettled([...all].map(kill))),
  }
}

/** Kills or stops one process after another: every other time the one that has the lease, if it is known. */
async function trouble(plan: StormPlan, crowd: Crowd, done: Done): Promise<void> {
  const random = randomFrom(plan.seed)
  for (let entries: readonly Entry[] = []; plan.goOn(done, judge(entries));) {
    await pause(200 + random.next() * 1200)
    entries = await entriesOf(plan.log)
    const holderId = holderIn(entries)
    const holder = crowd.processes.find(({ pid }) => pid === holderId)
    const child = random.next() < 0.5 && holder !== undefined ? holder : random.pick(crowd.processes)
    const isHolder = child === holder
    if (random.next() < 0.5) {
      done.kills += 1
      if (isHolder) done.holdersKilled += 1
      await crowd.kill(child)
    } else {
      done.stops += 1
      if (isHolder) done.holdersStopped += 1
      stopFor(child, plan.ttlMs * 2 * random.next())
    }
  }
}

/** For less than its lease lasts, or for longer. */
function stopFor(child: ChildProcess, ms: number): void {
  child.kill('SIGSTOP')
  setTimeout(() => child.kill('SIGCONT'), ms).unref()
}

function holderIn(entries: readonly Entry[]): number | undefined {
  const last = entries.at(-1)
  return last !== undefined && 'until' in last ? last.by : undefined
}

interface Cluster {
  readonly members: StartedServer[]
  readonly done: Done
  readonly over: AbortSignal
}

/** Never two at a time: without most of its members the cluster would do nothing. */
async function failMembers(
  { memberEveryMs, seed }: StormPlan,
  { members, done, over }: Cluster,
): Promise<void> {
  const random = randomFrom(seed + 1)
  const rest = (ms: number): Promise<void> => pause(ms, undefined, { signal: over }).catch(() => {})
  for (await rest(memberEveryMs); !over.aborted; await rest((memberEveryMs * 3) / 4)) {
    const member = random.pick(members)
    process.kill(member.server.pid ?? 0, 'SIGKILL')
    await rest(memberEveryMs / 4)
    const back = await member.restart?.()
    if (back === undefined) throw new Error('a member cannot be started again')
    members.splice(members.indexOf(member), 1, back)
    done.membersKilled += 1
  }
}

async function entriesOf(log: string): Promise<readonly Entry[]> {
  return entriesIn(await readFile(log, 'utf8'))
}
