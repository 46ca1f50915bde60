import { fileURLToPath } from 'node:url'

import pg from 'pg'

import { runCommand } from '../../test/engines/run-command.ts'
import { compare } from '../compare.ts'
import type { Scenario } from '../scenario.ts'
import { schema } from '../transactions/bookings.ts'
import { publishedFolder } from '../transactions/library.ts'

const child = fileURLToPath(new URL('../cpu-child.ts', import.meta.url))

export const cpu: Scenario = {
  id: 'cpu',
  title: 'What Holdfast itself costs the processor',
  about:
    'A transaction under an advisory lock with one read in it, on `pg`, in a process of its own each round: the time that the ' +
    'client’s processor works for it. By hand the very same three messages are sent, in the same order, so the difference ' +
    'is what Holdfast does between them: it checks what it is given, makes names and receipts, watches for abort, loss and ' +
    'nested use, and tells what an error means.',
  run: async (bench) => {
    const server = await bench.server('postgres')
    if (server === undefined) return []
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    for (const statement of schema) await client.query(statement)
    await client.end()
    const folder = bench.isQuick ? '' : (await publishedFolder()).href
    const [count, warmUp] = bench.isQuick ? [20, 20] : [6000, 4000]
    const contestant = (name: string, how: string): Parameters<typeof compare>[0][number] => ({
      name,
      round: async () => {
        const words = ['--import', 'tsx', child, server.url, how, String(count), String(warmUp), folder]
        return Number(await runCommand(process.execPath, words, { timeoutMs: 300_000 }))
      },
    })
    const [ours, theirs] = ['Holdfast on pg', 'the same messages by hand'] as const
    const { rows, ratio } = await compare([contestant(ours, 'holdfast'), contestant(theirs, 'byHand')], {
      rounds: bench.isQuick ? 1 : 7,
      warmUp: 0,
      say: bench.say,
      title: 'cpu',
    })
    return [
      {
        title: 'a transaction under an advisory lock',
        unit: 'µs of user time',
        isMoreBetter: false,
        rows,
        goals: [
          {
            what: 'Holdfast against the same messages by hand, processor time',
            reached: ratio(ours, theirs),
            must: 1.05,
            isAtMost: true,
          },
        ],
      },
    ]
  },
}
