import { randomBytes } from 'node:crypto'

import type { RunOptions } from './board/run.ts'
import { CliUsageError, exitCodes, type Call, type Command, type Outcome, type Terminal } from './command.ts'
import { keysIn } from './inspect-key.ts'
import { oneAddress, unreachable } from './one-address.ts'

/** Shows the locks of a database in a browser, as long as somebody looks. */
export const board: Command = {
  name: 'board',
  parameters: '[url]',
  summary:
    'Serve a page that shows locks, leases, queues and deadlocks as they change; without an address, of $DATABASE_URL',
  note:
    'It shows the statements of other sessions as the server shows them, with the values that stand in their text: ' +
    'passwords and personal data too, if the application writes them there instead of passing parameters.',
  options: {
    queue: {
      type: 'string',
      multiple: true,
      value: '<json or file>',
      summary:
        'A queue to show, described as queue() takes it, and perhaps with "name", "storedAt" or "storedAtMs"',
    },
    key: {
      type: 'string',
      multiple: true,
      value: '<a/b>',
      summary: 'A key that another process may hold, to show it by name where the server has only a number',
    },
    server: { type: 'boolean', summary: 'Show all databases of the server, not only the one in the address' },
    'allow-kill': { type: 'boolean', summary: 'Let the page cancel statements and end sessions' },
    'no-statements': { type: 'boolean', summary: 'Show no statements' },
    host: {
      type: 'string',
      value: '<host>',
      summary: 'Where to listen (default: 127.0.0.1, this machine alone)',
    },
    port: { type: 'string', value: '<port>', summary: 'The port to listen on (default: one that is free)' },
    'no-token': {
      type: 'boolean',
      summary: 'Let in everybody on this machine, without a token in the address',
    },
  },
  run: async (call) => {
    const url = oneAddress('board', call)
    const options = read(call)
    const { runBoard } = await import('./board/run.ts')
    const { queuesIn } = await import('./board/queue-option.ts')
    const queues = call.texts('queue').flatMap(queuesIn)
    try {
      await runBoard(url, { ...options, queues, terminal: call.terminal })
      return { text: '', exitCode: exitCodes.ok }
    } catch (error) {
      return failure(url, error, { ...options, ...call.terminal })
    }
  },
}

function read(call: Call): Omit<RunOptions, 'queues' | 'terminal'> {
  const host = call.text('host') ?? '127.0.0.1'
  const port = call.number('port', 0) ?? 0
  if (port > 65_535) throw new CliUsageError(`--port: ${port} is not a port`)
  const isOpen = call.flag('no-token')
  const allowsKill = call.flag('allow-kill')
  if (isOpen && (allowsKill || call.text('host') !== undefined))
    throw new CliUsageError('--no-token: goes with neither --allow-kill nor --host: both need the token')
  return {
    host,
    port,
    // 192 bits, of letters that need no quoting in any shell
    token: isOpen ? '' : randomBytes(24).toString('base64url'),
    allowsKill,
    hidesStatements: call.flag('no-statements'),
    inspect: { scope: call.flag('server') ? 'server' : 'database', keys: call.texts('key').flatMap(keysIn) },
  }
}

type Beginning = Pick<RunOptions, 'host' | 'port'> & Pick<Terminal, 'signal'>

/** How the board ends when it could not begin. */
function failure(url: string, error: unknown, { host, port, signal }: Beginning): Outcome {
  if (signal.aborted) return { text: 'board: interrupted\n', exitCode: exitCodes.interrupted }
  const { code, syscall } = error as NodeJS.ErrnoException
  if (syscall === 'listen' || syscall === 'getaddrinfo') {
    const why = code === 'EADDRINUSE' ? `the port ${port} is taken (${code}): name another with --port` : code
    return { text: `board: cannot listen on ${host}: ${why}\n`, exitCode: exitCodes.failed }
  }
  return unreachable('board', url, error)
}
