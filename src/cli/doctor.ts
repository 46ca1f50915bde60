import { destinationOf, openUrl } from '../connect/open.ts'
import { worstFirst, type Attestation, type Finding, type QueueIndex } from '../core/attestation.ts'
import { meet } from '../locks.ts'
import { findDialect } from '../registry.ts'
import { exitCodes, type Call, type Command, type Outcome, type Terminal } from './command.ts'
import { queueIn } from './doctor-queue.ts'
import { renderAttestation } from './doctor-render.ts'
import { leavingNoTable } from './doctor-table.ts'
import { painterFor } from './inspect-text.ts'
import { oneAddress, unreachable } from './one-address.ts'

/** Tries every lock on a server, and says what is wrong with it. */
export const doctor: Command = {
  name: 'doctor',
  parameters: '[url]',
  summary:
    'Test each lock on your server and report settings that weaken it; without an address, on $DATABASE_URL',
  options: {
    json: { type: 'boolean', summary: 'Print the findings as JSON' },
    queue: {
      type: 'string',
      multiple: true,
      value: '<table:column,column>',
      summary: 'A table used as a queue, with the columns that a claim filters and orders by',
    },
  },
  run: async (call) => {
    const { url, queues } = read(call)
    try {
      return outcomeOf(await examine(url, queues, call.terminal), call)
    } catch (error) {
      if (call.terminal.signal.aborted)
        return { text: 'doctor: interrupted\n', exitCode: exitCodes.interrupted }
      return unreachable('doctor', url, error)
    }
  },
}

function read(call: Call): { readonly url: string; readonly queues: readonly QueueIndex[] } {
  const url = oneAddress('doctor', call)
  return { url, queues: call.texts('queue').map(queueIn) }
}

async function examine(
  url: string,
  queues: readonly QueueIndex[],
  { signal, progress }: Terminal,
): Promise<Attestation> {
  const open = await openUrl(url, 2)
  try {
    const { shared } = meet(open.sessions, open.dialects.map(findDialect))
    const tell = (words: string): void => progress(`doctor: ${words}\n`)
    const attested = await leavingNoTable(open, () => shared.attest({ queues, signal }), tell)
    return { ...attested, findings: worstFirst([...attested.findings, ...(await beside(url))]) }
  } finally {
    await open.close()
  }
}

/** What is amiss with the packages of the application that this is run in. */
async function beside(url: string): Promise<readonly Finding[]> {
  return (await destinationOf(url).driver.beside?.(process.cwd())) ?? []
}

function outcomeOf(attestation: Attestation, { terminal, flag }: Call): Outcome {
  const layout = { columns: terminal.columns, paint: painterFor(terminal.hasColour) }
  const text = flag('json')
    ? `${JSON.stringify(attestation, undefined, 2)}\n`
    : renderAttestation(attestation, layout)
  if (isWell(attestation)) return { text, exitCode: exitCodes.ok }
  // a report is an answer, and goes where answers go
  terminal.write(text)
  return { text: '', exitCode: exitCodes.failed }
}

/** Nothing is worth less than it seems, and nothing was found that makes locks impossible. */
export function isWell({ capabilities, findings }: Attestation): boolean {
  return (
    capabilities.every(({ observed }) => observed !== 'broken') &&
    findings.every(({ severity }) => severity !== 'error')
  )
}
