import { setTimeout as pause } from 'node:timers/promises'

import { openUrl, type OpenUrl } from '../connect/open.ts'
import type { InspectOptions, Inspection } from '../core/inspection.ts'
import { meet } from '../locks.ts'
import { findDialect } from '../registry.ts'
import { CliUsageError, exitCodes, type Call, type Command, type Outcome, type Terminal } from './command.ts'
import { keysIn } from './inspect-key.ts'
import { renderInspection } from './inspect-render.ts'
import { painterFor } from './inspect-text.ts'
import { oneAddress, unreachable } from './one-address.ts'

/** Shows who holds locks and who waits for them, once or again and again. */
export const inspect: Command = {
  name: 'inspect',
  parameters: '[url]',
  summary: 'Show who holds locks, who waits for whom, and since when; without an address, on $DATABASE_URL',
  note:
    'It prints the statements of other sessions as the server shows them, with the values that stand in their text: ' +
    'passwords and personal data too, if the application writes them there instead of passing parameters.',
  options: {
    json: { type: 'boolean', summary: 'Print JSON; with --watch, one line for each refresh' },
    watch: { type: 'boolean', short: 'w', summary: 'Refresh until interrupted' },
    every: {
      type: 'string',
      value: '<ms>',
      summary: 'How often --watch refreshes, in milliseconds (default: 1000)',
    },
    server: { type: 'boolean', summary: 'Show all databases of the server, not only the one in the address' },
    key: {
      type: 'string',
      multiple: true,
      value: '<a/b>',
      summary: 'A key that another process may hold, to show it by name where the server has only a number',
    },
  },
  run: async (call) => {
    const { url, options } = read(call)
    try {
      const open = await openUrl(url, 1)
      try {
        return await lookAt(open, call, options)
      } finally {
        await open.close()
      }
    } catch (error) {
      if (!call.terminal.signal.aborted) return unreachable('inspect', url, error)
      // to interrupt is how a watch ends
      return call.flag('watch')
        ? { text: '', exitCode: exitCodes.ok }
        : { text: 'inspect: interrupted\n', exitCode: exitCodes.interrupted }
    }
  },
}

function read(call: Call): { readonly url: string; readonly options: InspectOptions } {
  const url = oneAddress('inspect', call)
  if (call.number('every') !== undefined && !call.flag('watch'))
    throw new CliUsageError('--every: needs --watch')
  const keys = call.texts('key').flatMap(keysIn)
  const scope = call.flag('server') ? 'server' : 'database'
  return { url, options: { scope, keys, signal: call.terminal.signal } }
}

async function lookAt(open: OpenUrl, call: Call, options: InspectOptions): Promise<Outcome> {
  const { shared } = meet(open.sessions, open.dialects.map(findDialect))
  const look = (): Promise<Inspection> => shared.inspect(options)
  if (call.flag('watch')) return watch(look, call)
  return { text: textOf(await look(), call), exitCode: exitCodes.ok }
}

/** Ends only by a signal or an error. */
async function watch(look: () => Promise<Inspection>, call: Call): Promise<never> {
  const { terminal } = call
  const everyMs = call.number('every') ?? 1000
  for (;;) {
    terminal.write(frame(textOf(await look(), call), call))
    await pause(everyMs, undefined, { signal: terminal.signal })
  }
}

/** On a screen each look takes the place of the one before; elsewhere it follows it. */
function frame(text: string, { terminal, flag }: Call): string {
  if (flag('json')) return text
  return terminal.isScreen ? `\u001b[2J\u001b[H${text}` : `${text}\n`
}

function textOf(inspection: Inspection, { terminal, flag }: Call): string {
  if (flag('json')) return `${JSON.stringify(inspection, undefined, flag('watch') ? 0 : 2)}\n`
  return renderInspection(inspection, layoutOf(terminal))
}

function layoutOf({ columns, hasColour }: Terminal): Parameters<typeof renderInspection>[1] {
  return { columns, paint: painterFor(hasColour) }
}
