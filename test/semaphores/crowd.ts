import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'

import { programOf } from '../engines/program.ts'
import { until } from '../engines/until.ts'
import type { FromContender, ToContender, Use } from './contender.ts'

export interface CrowdPlan {
  readonly engine: string
  readonly url: string
  readonly processes: number
  /** In each process. */
  readonly contenders: number
  readonly permits: number
  readonly ttlMs: number
  /** How many have to have a permit before the first of them goes on. @default 1 */
  readonly together?: number
}

/** What was heard of permits, in the order in which it was. */
export type Heard =
  | { readonly in: Use; readonly by: string }
  | { readonly out: string; readonly isConfirmed: boolean }

/** Processes that contend for permits. */
export interface Crowd {
  readonly heard: readonly Heard[]
  readonly failures: readonly string[]
  /** A use of some process that it has not ended yet; undefined when there is none just now. */
  readonly current: () => { readonly use: Use; readonly by: string } | undefined
  readonly kill: (by: string) => Promise<void>
  /** Stops a process as SIGSTOP does, with a permit in use. Gives what wakes it again. */
  readonly freeze: () => Promise<{ readonly use: Use; readonly wake: () => void }>
  readonly start: () => Promise<void>
  /** Lets all of them end by themselves. */
  readonly stop: () => Promise<void>
  /** Ends what is still there, whatever it does. */
  readonly end: () => Promise<void>
}

export async function gather(plan: CrowdPlan): Promise<Crowd> {
  const program = await programOf(new URL('./contender.ts', import.meta.url))
  const { engine, url, contenders, permits, ttlMs, together = 1 } = plan
  const children = new Map<string, ChildProcess>()
  const heard: Heard[] = []
  const failures: string[] = []
  const frozen: string[] = []
  const kept: (() => void)[] = []
  let started = 0
  const goOn = (child: ChildProcess, owner: string): void => {
    const answer: ToContender = { heard: owner }
    if (child.connected) child.send(answer)
  }
  const hear = (by: string, child: ChildProcess, message: FromContender): void => {
    if (message === 'ready') return
    if ('failed' in message) failures.push(message.failed)
    if ('frozen' in message) frozen.push(message.frozen)
    if ('in' in message) {
      kept.push(() => goOn(child, message.in.owner))
      // once there are as many, there were as many
      if (heard.push({ in: message.in, by }) >= together) for (const one of kept.splice(0)) one()
    }
    if (!('out' in message)) return
    heard.push(message)
    goOn(child, message.out)
  }
  const start = async (): Promise<void> => {
    const by = `process ${(started += 1)}`
    const args = [engine, url, contenders, permits, ttlMs].map(String)
    const child = fork(program, args, { execArgv: [] })
    child.on('message', (message: FromContender) => hear(by, child, message))
    children.set(by, child)
    await Promise.race([once(child, 'message'), once(child, 'exit').then(neverStarted)])
  }
  await Promise.all(Array.from({ length: plan.processes }, start))
  return {
    heard,
    failures,
    start,
    current: () => {
      const over = new Set(heard.map((one) => ('out' in one ? one.out : '')))
      return heard
        .flatMap((one) => ('in' in one && !over.has(one.in.owner) && children.has(one.by) ? [one] : []))
        .map((one) => ({ use: one.in, by: one.by }))[0]
    },
    kill: async (by) => {
      const child = children.get(by)
      if (child === undefined) throw new Error(`there is no ${by}`)
      children.delete(by)
      await killed(child)
    },
    freeze: async () => {
      const [child] = children.values()
      child?.send('freeze' satisfies ToContender)
      await until(() => frozen.length > 0, 'a process that stops')
      const use = heard.flatMap((one) => ('in' in one && one.in.owner === frozen[0] ? [one.in] : []))[0]
      if (child === undefined || use === undefined) throw new Error('who stops has no permit')
      return { use, wake: () => void child.kill('SIGCONT') }
    },
    stop: async () => {
      const ends = [...children.values()].map((child) => once(child, 'exit'))
      for (const child of children.values()) child.send('stop' satisfies ToContender)
      await Promise.all(ends)
    },
    end: async () => void (await Promise.all([...children.values()].map(killed))),
  }
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

function neverStarted([code]: unknown[]): never {
  throw new Error(`a process of contenders did not start: it ended with ${String(code)}`)
}

/** Of whom the server has said that they had their permit to the end. */
function confirmedIn(heard: readonly Heard[]): ReadonlySet<string> {
  return new Set(heard.flatMap((one) => ('out' in one && one.isConfirmed ? [one.out] : [])))
}

/** Those of them whose fence is not above that of who had the slot before. */
export function outOfOrder(heard: readonly Heard[]): readonly Use[] {
  const confirmed = confirmedIn(heard)
  const last = new Map<number, number>()
  const uses = heard.flatMap((one) => ('in' in one && confirmed.has(one.in.owner) ? [one.in] : []))
  return uses.filter(({ slot, fence }) => {
    const before = last.get(slot) ?? 0
    last.set(slot, Math.max(before, fence))
    return fence <= before
  })
}

/** How many of them had a permit at a time at most. */
export function mostAtOnce(heard: readonly Heard[]): number {
  const confirmed = confirmedIn(heard)
  const inside = new Set<string>()
  let most = 0
  for (const one of heard) {
    if ('out' in one) inside.delete(one.out)
    else if (confirmed.has(one.in.owner)) inside.add(one.in.owner)
    most = Math.max(most, inside.size)
  }
  return most
}
