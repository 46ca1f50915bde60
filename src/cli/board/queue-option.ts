import { readFileSync } from 'node:fs'

import { LockUsageError } from '../../core/errors.ts'
import type { StoredAt } from '../../dialects/queue-look.ts'
import { queue } from '../../locks/queue/queue.ts'
import type { Queue, QueueDefinition } from '../../locks/queue/queue-definition.ts'
import { CliUsageError } from '../command.ts'

/** A queue that the board looks at. */
export interface WatchedQueue {
  readonly name: string
  readonly queue: Queue
  /** Absent where no column tells since when jobs are there. */
  readonly stored?: StoredAt
}

/** What stands behind `--queue`: a description as `queue()` takes it, or several, as JSON or in a file of JSON. */
export function queuesIn(text: string): readonly WatchedQueue[] {
  const json = /^\s*[[{]/.test(text) ? text : fileText(text)
  const parsed = parse(json, text)
  return (Array.isArray(parsed) ? parsed : [parsed]).map(watched)
}

function fileText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const { code = 'it cannot be read' } = error as NodeJS.ErrnoException
    throw new CliUsageError(
      `--queue: ${JSON.stringify(path)} is neither JSON nor a file with JSON in it (${code})`,
    )
  }
}

function parse(json: string, text: string): unknown {
  try {
    return JSON.parse(json) as unknown
  } catch (error) {
    const where = json === text ? '' : `${JSON.stringify(text)}: `
    throw new CliUsageError(`--queue: ${where}${(error as Error).message}`)
  }
}

function watched(given: unknown): WatchedQueue {
  const isObject = typeof given === 'object' && given !== null
  const { name, storedAt, storedAtMs, ...definition } = (isObject ? given : {}) as Readonly<
    Record<string, unknown>
  >
  try {
    const made = queue(definition as unknown as QueueDefinition)
    const table = made.shape.table
    const stored = storedIn(storedAt, storedAtMs)
    return {
      name: typeof name === 'string' ? name : [table].flat().join('.'),
      queue: made,
      ...(stored === undefined ? {} : { stored }),
    }
  } catch (error) {
    throw error instanceof LockUsageError ? new CliUsageError(`--queue: ${error.message}`) : error
  }
}

function storedIn(date: unknown, ms: unknown): StoredAt | undefined {
  if (date !== undefined && ms !== undefined)
    throw new CliUsageError('--queue: storedAt and storedAtMs are two names for one thing: give one of them')
  const column = date ?? ms
  if (column === undefined) return undefined
  if (typeof column !== 'string' || column === '')
    throw new CliUsageError('--queue: storedAt must be the name of a column')
  return { column, isMs: date === undefined }
}
