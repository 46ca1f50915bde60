import { CommitOutcomeUnknownError } from '../../core/errors.ts'
import type { TransactionOptions } from '../../locks/transaction/options.ts'
import { reportsUndoneWork, retriesUnknownCommit, trustsCommit } from '../controls/retry-defects.ts'
import { BrokenLawError } from '../broken-law.ts'
import type { Facts } from '../facts.ts'
import { defineLaw, type Law } from '../law.ts'
import { breakingAtCommit, type Break } from '../lost-commit.ts'
import type { Stage } from '../stage.ts'
import { describeValue } from '../trace.ts'
import { writerOf } from '../writer.ts'

const noWire = ({ canKill, dialect }: Facts): string | undefined =>
  canKill || dialect.transaction.canRepeatCommit === true
    ? undefined
    : 'there is no wire on which an answer could get lost'

interface Lost {
  /** Whether the caller was told that all is stored, or that nobody knows. */
  readonly told: 'stored' | 'unknown'
  readonly runs: number
  /** How often the effect is there. */
  readonly effects: number
}

/** Adds one to a row in a transaction whose connection breaks at COMMIT. */
async function loseCommit(stage: Stage, when: Break, options: TransactionOptions = {}): Promise<Lost> {
  const { transaction, add } = await writerOf(stage, when, await breakingAtCommit(stage.ground, when))
  let runs = 0
  const work = transaction(
    `add, and lose the connection ${when} COMMIT`,
    async (tx) => {
      runs += 1
      await add(tx, 1)
    },
    options,
  )
  const told = await work.then(
    () => 'stored' as const,
    (error: unknown) => {
      if (error instanceof CommitOutcomeUnknownError) return 'unknown' as const
      throw new BrokenLawError(`neither stored nor unknown: ${describeValue(error)}`, { cause: error })
    },
  )
  return { told, runs, effects: await effectsOf(stage) }
}

async function effectsOf(stage: Stage): Promise<number> {
  return (await stage.committed()).get(1) ?? 0
}

export const commitLaws: readonly Law[] = [
  defineLaw({
    id: 'D14',
    says: 'After a swallowed error the rest of the transaction is stored, or the caller is told that nothing is.',
    features: ['retry'],
    rows: { 1: 10, 2: 20 },
    trial: async (stage) => {
      const { transaction, write, insert } = await writerOf(stage, 'a')
      const outcome = await transaction('go on after an error', async (tx) => {
        await write(tx, 1, 11)
        await insert(tx, 2, 0).catch(() => {}) // there is a row 2
        await write(tx, 2, 21).catch(() => {})
      }).then(
        () => 'stored',
        () => 'refused',
      )
      const rows = [...(await stage.committed()).values()].join()
      const expected = outcome === 'stored' ? '11,21' : '10,20'
      stage.expect(rows === expected, `it was reported as ${outcome}, and the rows are ${rows}`)
    },
    control: reportsUndoneWork,
  }),
  defineLaw({
    id: 'D15',
    says: 'Work whose COMMIT succeeded but whose answer was lost is not run again: it is stored once.',
    features: ['retry'],
    rows: { 1: 0 },
    unless: noWire,
    trial: async (stage) => {
      const { runs, effects } = await loseCommit(stage, 'after')
      stage.expect(effects === 1, `it is stored ${effects} times, not once`)
      stage.expect(runs === 1, `the work ran ${runs} times, not once`)
    },
    control: retriesUnknownCommit,
  }),
  defineLaw({
    id: 'D16',
    says: 'Work whose COMMIT never arrived is reported as stored only if it is, and as unknown otherwise.',
    features: ['retry'],
    rows: { 1: 0 },
    unless: noWire,
    trial: async (stage) => {
      const { told, effects } = await loseCommit(stage, 'before')
      const expected = told === 'stored' ? 1 : 0
      stage.expect(effects === expected, `it was reported as ${told}, and is stored ${effects} times`)
    },
    control: trustsCommit,
  }),
  defineLaw({
    id: 'D17',
    says: 'With `verifyCommit`, work whose COMMIT was lost is stored exactly once in the end.',
    features: ['retry'],
    rows: { 1: 0 },
    unless: noWire,
    trial: async (stage) => {
      for (const [index, when] of (['after', 'before'] as const).entries()) {
        const expected = index + 1
        const verifyCommit = async (): Promise<boolean> => (await effectsOf(stage)) === expected
        const { told, effects } = await loseCommit(stage, when, { verifyCommit })
        stage.expect(told === 'stored', `${when}: nobody knows, although somebody could be asked`)
        stage.expect(effects === expected, `${when}: ${effects} effects are stored, not ${expected}`)
      }
    },
    control: retriesUnknownCommit,
  }),
]
