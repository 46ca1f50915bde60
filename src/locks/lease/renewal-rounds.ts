import { clearTimeout, performance, setTimeout } from '../../core/clock.ts'
import type { LeaseRenewal } from '../../dialects/lease.ts'
import { callLease, isAnswered, type Reply } from './call.ts'
import { limitTo } from '../limit.ts'
import type { LeasePort } from '../port.ts'

/** Confirms leases that are due at about the same time with one request. */
export interface RenewalRounds {
  /** The server's answer; undefined where a request of its own has to tell. */
  readonly renew: (due: DueRenewal) => Promise<Reply | undefined>
}

export interface DueRenewal extends LeaseRenewal {
  /** How long the answer is waited for. */
  readonly patienceMs: number
  /** Whether nobody wants it any longer. */
  readonly isOver: () => boolean
  readonly onSend: (sentAt: number) => void
}

/** How long the first of a round waits for others at most, and which part of its time: it has two thirds of it left. */
const gatherMs = 100
const gatherPart = 100
/** One statement is not to take long: everybody in it waits for all. */
const maxTogether = 500

interface Waiting {
  readonly due: DueRenewal
  readonly settle: (reply: Reply | undefined) => void
}

export function createRenewalRounds(port: LeasePort): RenewalRounds {
  let waiting: Waiting[] = []
  let timer: NodeJS.Timeout | undefined
  let endsAt = Infinity
  const flush = (): void => {
    clearTimeout(timer)
    endsAt = Infinity
    const all = waiting
    waiting = []
    void renewAll(port, all)
  }
  return {
    renew: (due) =>
      new Promise((settle) => {
        waiting.push({ due, settle })
        if (waiting.length >= maxTogether) return flush()
        const ms = Math.min(gatherMs, due.ttlMs / gatherPart)
        if (performance.now() + ms >= endsAt) return
        clearTimeout(timer)
        endsAt = performance.now() + ms
        timer = setTimeout(flush, ms).unref()
      }),
  }
}

async function renewAll(port: LeasePort, all: readonly Waiting[]): Promise<void> {
  const wanted = all.filter(({ due }) => !due.isOver())
  const reply = wanted.length > 1 ? await renewTogether(port, wanted) : undefined
  const renewed = new Set(
    reply !== undefined && isAnswered(reply) ? reply.rows.map(({ owner }) => owner) : [],
  )
  for (const { due, settle } of all) {
    const isTold = reply !== undefined && (!isAnswered(reply) || renewed.has(due.held.owner))
    settle(isTold && !due.isOver() ? reply : undefined)
  }
}

async function renewTogether(port: LeasePort, all: readonly Waiting[]): Promise<Reply> {
  const limit = limitTo({ ms: Math.min(...all.map(({ due }) => due.patienceMs)), keepsAlive: false })
  let isSent = false
  const reply = await callLease(port, {
    statements: ({ renewAll: renew }) => {
      isSent = renew !== undefined
      return renew === undefined ? [] : [renew(all.map(({ due }) => due))]
    },
    signal: limit.signal,
    onSend: (sentAt) => {
      if (isSent) for (const { due } of all) due.onSend(sentAt)
    },
  })
  limit.end()
  return reply
}
