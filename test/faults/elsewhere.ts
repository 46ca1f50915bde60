import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { afterEach } from 'vitest'

import { programOf } from '../engines/program.ts'
import type { Answer, Order } from './holder.ts'
import type { Stage } from './stage.ts'

/** A process that holds locks as it is told. */
export interface Elsewhere {
  /** Gives an order and waits for what comes of it. */
  readonly tell: <K extends string>(order: Order, key: K) => Promise<Extract<Answer, Record<K, unknown>>>
  /** Sends a signal to the process. SIGKILL resolves when it is gone. */
  readonly signal: (name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT') => Promise<void>
}

/** Starts processes that end with the test. */
export function processes(stage: Stage): (shiftMs?: number) => Promise<Elsewhere> {
  const children: ChildProcess[] = []
  afterEach(async () => {
    for (const child of children.splice(0)) await end(child)
  })
  return async (shiftMs = 0) => {
    const program = await programOf(new URL('./holder.ts', import.meta.url))
    const args = [stage.name, stage.engine.server.url, String(shiftMs)]
    const child = fork(program, args, { execArgv: [] })
    children.push(child)
    await answerOf(child)
    return {
      tell: async (order, key) => {
        const answering = answerOf(child)
        child.send(order)
        const answer = await answering
        if (typeof answer === 'object' && key in answer) return answer as never
        throw new Error(`another process: ${JSON.stringify(answer)}`)
      },
      signal: async (name) => {
        if (name === 'SIGKILL') return end(child)
        child.kill(name)
      },
    }
  }
}

async function answerOf(child: ChildProcess): Promise<Answer> {
  const answering = new AbortController()
  const { signal } = answering
  const early = once(child, 'exit', { signal }).then(([code, name]) => {
    throw new Error(`another process ended with ${String(code ?? name)}`)
  })
  try {
    const [answer] = await Promise.race([once(child, 'message', { signal }), early])
    return answer as Answer
  } finally {
    early.catch(() => {}) // nobody waits for its end any longer
    answering.abort()
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}
