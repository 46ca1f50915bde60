import { compare, together, type Contestant } from '../compare.ts'
import { roundsFor } from '../effort.ts'
import type { Bench, Scenario, Section } from '../scenario.ts'
import { accountCount, openBank, type Bank, type Transfer, type TransferWay } from '../transfers/bank.ts'

const names: Readonly<Record<TransferWay, string>> = {
  ordered: 'Holdfast, ordered locks',
  unordered: 'unordered, retried',
  serializable: 'SERIALIZABLE, retried',
}

export const scenario: Scenario = {
  id: 'transfers',
  title: 'Transfers between ten accounts that everybody wants',
  about: `
16 workers move money between two of ten accounts, drawn by lot: from the first, then to the second.

- **ordered locks**: \`locks.inOrder(tx, [from, to])\` first, which locks both rows in the one order that all callers share.
- **unordered, retried**: the two UPDATEs alone, in \`withTxRetry\`. Two transfers in opposite directions deadlock; the server
  notices (PostgreSQL after a second, as it comes; MySQL and MariaDB at once), one of them is rolled back and run again.
- **SERIALIZABLE, retried**: the same at the isolation level SERIALIZABLE, where the loser of a conflict is rolled back too.

A round lasts for a fixed time, and what is under way at its end is finished and counted. No transfer is given up:
there are as many attempts as it takes. After each round the sum of all accounts is what it was.
`,
  run: async (bench) => {
    const sections: Section[] = []
    // nothing is promised here
    if (bench.effort === 'quick') return sections
    for (const engine of ['postgres', 'mysql', 'mariadb']) {
      const server = await bench.server(engine)
      if (server === undefined) continue
      const workers = bench.effort === 'glimpse' ? 4 : 16
      const bank = await openBank(server, workers)
      try {
        sections.push(bench.show(await runEngine(bench, { engine, bank, workers })))
      } finally {
        await bank.close()
      }
    }
    return sections
  },
}

interface Run {
  readonly engine: string
  readonly bank: Bank
  readonly workers: number
}

async function runEngine(bench: Bench, { engine, bank, workers }: Run): Promise<Section> {
  const forMs = bench.effort === 'glimpse' ? 150 : 3000
  const ways = Object.keys(names) as readonly TransferWay[]
  const title = `${engine}, ${workers} workers`
  const { rows } = await compare(
    ways.map((way) => contestant(bank, way, { workers, forMs })),
    { ...roundsFor(bench.effort, { rounds: 5 }), title, say: bench.say },
  )
  return { title, unit: 'tx/s', isMoreBetter: true, rows, goals: [] }
}

interface Load {
  readonly workers: number
  readonly forMs: number
}

function contestant(bank: Bank, way: TransferWay, load: Load): Contestant {
  const seen = { transfers: 0, deadlocks: 0, others: 0 }
  return {
    name: names[way],
    round: async () => {
      const before = await bank.total()
      const figure = await runRound(bank, way, { ...load, seen })
      if ((await bank.total()) !== before) throw new Error(`${names[way]}: money was lost or made`)
      return figure
    },
    more: () => ({
      'deadlocks per 1,000': (1000 * seen.deadlocks) / seen.transfers,
      'other retries per 1,000': (1000 * seen.others) / seen.transfers,
    }),
  }
}

interface Seen {
  transfers: number
  deadlocks: number
  others: number
}

async function runRound(
  bank: Bank,
  way: TransferWay,
  { workers, forMs, seen }: Load & { readonly seen: Seen },
): Promise<number> {
  const started = performance.now()
  let done = 0
  await together(workers, async () => {
    while (performance.now() - started < forMs) {
      await bank.transfer(way, drawn(), {
        attempts: 1_000_000,
        budgetMs: 3_600_000,
        onRetry: ({ kind }) => {
          if (kind === 'deadlock') seen.deadlocks += 1
          else seen.others += 1
        },
      })
      done += 1
    }
  })
  seen.transfers += done
  return (done * 1000) / (performance.now() - started)
}

function drawn(): Transfer {
  const from = Math.floor(Math.random() * accountCount)
  const step = 1 + Math.floor(Math.random() * (accountCount - 1))
  return { from, to: (from + step) % accountCount }
}
