import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import type { EngineSession } from '../engines/engine.ts'
import { describeEngines } from '../engines/use.ts'
import { createBank, lockedRows } from './bank.ts'
import { indexFacts, reasonsToAccept, reasonsToRefuse, type Fact, type Outcome } from './facts.ts'

/** What the engines do with locks in odd places when nobody looks after them: the reasons for the plugin's rules. */
describeEngines(
  (context) => {
    let holder: EngineSession
    let observer: EngineSession
    const name = context.name as 'postgres' | 'mysql' | 'mariadb'
    const shared = name === 'mariadb' ? 'LOCK IN SHARE MODE' : 'FOR SHARE'

    beforeAll(() => createBank(context))
    beforeEach(async () => {
      holder = await context.engine.open()
      observer = await context.engine.open()
      await holder.begin()
    })
    afterEach(async () => {
      await holder.rollback()
      await Promise.all([holder.close(), observer.close()])
    })

    const outcomeOf = async ({ sql, mode }: Fact): Promise<Outcome> => {
      const text = sql.replace('{lock}', mode === 'shared' ? shared : 'FOR UPDATE')
      const isAccepted = await holder.run({ sql: text, params: [] }).then(
        () => true,
        () => false,
      )
      return isAccepted ? lockedRows(observer) : 'refused'
    }
    const expected = (fact: Fact): Outcome => (name === 'mariadb' ? (fact.mariadb ?? fact.mysql) : fact[name])

    describe('refused, because here', () => {
      test.each(reasonsToRefuse)('$title', async (fact) => {
        expect(await outcomeOf(fact)).toEqual(expected(fact))
      })
    })

    describe('accepted, because here the rows are locked that are handed on by', () => {
      test.each(reasonsToAccept)('$title', async (fact) => {
        expect(await outcomeOf(fact)).toEqual(expected(fact))
      })
    })

    describe('beyond what a query shows,', () => {
      test.each(indexFacts)('$title', async (fact) => {
        expect(await outcomeOf(fact)).toEqual(expected(fact))
      })
    })
  },
  { only: ['postgres', 'mysql', 'mariadb'] },
)
