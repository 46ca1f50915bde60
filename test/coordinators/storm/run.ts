import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { storm } from './storm.ts'

/*
 * Lets processes contend for one lease of etcd, and kills them, stops them and kills the members of the cluster meanwhile:
 *
 *   npm run storm -- --minutes 5 --processes 16 --seed 1
 *
 * The log of the holders stays where it says, or where `--log` says.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    processes: { type: 'string', default: '16' },
    'ttl-ms': { type: 'string', default: '3000' },
    'member-every-ms': { type: 'string', default: '20000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    log: { type: 'string' },
  },
})
const [minutes, processes, seed] = [values.minutes, values.processes, values.seed].map(Number)
const [ttlMs, memberEveryMs] = [Number(values['ttl-ms']), Number(values['member-every-ms'])]
for (const number of [minutes, processes, seed, ttlMs, memberEveryMs])
  if (!(Number(number) >= 0)) throw new Error('all options but --log are numbers')
const log = values.log ?? join(tmpdir(), `holdfast-storm-${process.pid}.log`)

const began = performance.now()
const result = await storm({
  processes: processes ?? 0,
  seed: seed ?? 0,
  ttlMs,
  memberEveryMs,
  log,
  goOn: () => performance.now() < began + Number(minutes) * 60_000,
})
const { holders, kills, holdersKilled, stops, holdersStopped, membersKilled, overlaps, failures } = result
console.log(
  [
    `${processes} processes, ${Math.round((performance.now() - began) / 1000)} s, seed ${seed}, log ${log}`,
    `the lease was held ${holders} times; the longest time without a holder was ${Math.round(result.longestGapMs)} ms`,
    `${kills} processes killed (${holdersKilled} of them the holder), ${stops} stopped (${holdersStopped} of them the holder), ` +
      `${membersKilled} members of the cluster killed`,
    `${failures.length} requests refused with an error${failures.length === 0 ? '' : `, as in: ${failures[0]}`}`,
    `${overlaps.length} overlaps`,
    ...overlaps,
  ].join('\n'),
)
// of a run in which nothing was held, or nobody was hurt, nothing can be said
process.exit(overlaps.length > 0 || holders === 0 || kills + stops === 0 ? 1 : 0)
