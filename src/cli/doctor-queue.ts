import type { QueueIndex } from '../core/attestation.ts'
import { CliUsageError } from './command.ts'

/** A queue as it is written behind `--queue`: the columns stand behind the last colon. */
export function queueIn(text: string): QueueIndex {
  const colon = text.lastIndexOf(':')
  const table = text.slice(0, Math.max(0, colon))
  const columns = text
    .slice(colon + 1)
    .split(',')
    .map((column) => column.trim())
  if (table !== '' && columns.every((column) => column !== '')) return { table, columns }
  throw new CliUsageError(`--queue: ${JSON.stringify(text)} is not <table:column,column>`)
}
