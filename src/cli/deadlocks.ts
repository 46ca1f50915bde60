import { openUrl } from '../connect/open.ts'
import { meet } from '../locks.ts'
import { findDialect } from '../registry.ts'
import { exitCodes, type Command } from './command.ts'
import { renderDeadlocks } from './deadlocks-render.ts'
import { painterFor } from './inspect-text.ts'
import { oneAddress, unreachable } from './one-address.ts'

/** Shows the deadlocks that a server remembers. */
export const deadlocks: Command = {
  name: 'deadlocks',
  parameters: '[url]',
  summary: 'Show the latest deadlocks that the server remembers; without an address, on $DATABASE_URL',
  note:
    'It prints statements as the server shows them, with the values that stand in their text: passwords and personal ' +
    'data too, if the application writes them there instead of passing parameters.',
  options: { json: { type: 'boolean', summary: 'Print JSON' } },
  run: async (call) => {
    const url = oneAddress('deadlocks', call)
    const { signal, columns, hasColour } = call.terminal
    try {
      const open = await openUrl(url, 1)
      try {
        const latest = await meet(open.sessions, open.dialects.map(findDialect)).deadlocks(signal)
        const text = call.flag('json')
          ? `${JSON.stringify(latest, undefined, 2)}\n`
          : renderDeadlocks(latest, { columns, paint: painterFor(hasColour) })
        return { text, exitCode: exitCodes.ok }
      } finally {
        await open.close()
      }
    } catch (error) {
      if (!signal.aborted) return unreachable('deadlocks', url, error)
      return { text: 'deadlocks: interrupted\n', exitCode: exitCodes.interrupted }
    }
  },
}
