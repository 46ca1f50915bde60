import { describe, expect, test } from 'vitest'

import { isSql, type Statement } from '../../src/core/statement.ts'
import type { ClaimStatements, TakeStep } from '../../src/dialects/claim.ts'
import type { Dialect } from '../../src/dialects/dialect.ts'
import { jobs } from './job-table.ts'
import { describeQueues } from './stage.ts'
import { dialectOf, openWorkshop, type Workshop } from './workshop.ts'

/** Claims that take what others have: the condition that keeps them away is left out. */
function careless(dialect: Dialect): Dialect {
  const changed = (claim: ClaimStatements): ClaimStatements => ({
    ...claim,
    take: (...call) => {
      const plan = claim.take(...call)
      return { ...plan, steps: plan.steps.map(withoutCondition) }
    },
  })
  return { ...dialect, claim: (use) => dialect.claim((claim) => use(changed(claim))) }
}

function withoutCondition(step: TakeStep): TakeStep {
  return typeof step === 'function' ? (seen) => stripped(step(seen)) : stripped(step)
}

function stripped(statement: Statement): Statement {
  if (isSql(statement)) {
    // the time in it may have brackets of its own
    const sql = statement.sql.replace(/ AND \(j\.\S+ IS NULL OR j\.\S+ <= .+?\)(?= AND COALESCE)/, '')
    return { ...statement, sql }
  }
  const command = JSON.stringify(statement.command, (key, value: unknown) =>
    key === '$expr' ? undefined : value,
  )
  return { command: JSON.parse(command) as Record<string, unknown> }
}

/** Rounds of two workers, each of whom does all the jobs that it gets. Gives how often each job was done. */
async function handOut(shop: Workshop, count: number): Promise<readonly number[]> {
  const done = new Map<number, number>()
  for (let round = 0; round < 2; round += 1) {
    const taken = await Promise.all([1, 2].map(() => shop.claims.claim(jobs, { limit: count })))
    for (const { id } of taken.flat()) done.set(Number(id), (done.get(Number(id)) ?? 0) + 1)
  }
  return [...done.values()]
}

describe('without the condition of the claim', () => {
  describeQueues((stage) => {
    test('jobs are done more than once; with it, once', async () => {
      const rows = Array.from({ length: 10 }, (_, id) => ({ id }))
      await stage.table.add(rows)
      expect(await handOut(stage.shop, 10)).toEqual(rows.map(() => 1))
      await stage.table.empty()
      await stage.table.add(rows)
      const { url } = stage.engine.server
      const shop = await openWorkshop(stage.name, url, { dialect: careless(dialectOf(stage.name)) })
      try {
        expect(Math.min(...(await handOut(shop, 10)))).toBeGreaterThan(1)
      } finally {
        await shop.close()
      }
    })
  })
})
