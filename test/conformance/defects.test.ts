import { afterAll, beforeAll, expect, test } from 'vitest'

import { batchDefects } from '../../src/conformance/controls/batch-defects.ts'
import * as claims from '../../src/conformance/controls/claim-defects.ts'
import * as leases from '../../src/conformance/controls/lease-defects.ts'
import * as names from '../../src/conformance/controls/name-defects.ts'
import * as refusals from '../../src/conformance/controls/refusal-defects.ts'
import * as retries from '../../src/conformance/controls/retry-defects.ts'
import { rowDefects } from '../../src/conformance/controls/row-defects.ts'
import * as semaphores from '../../src/conformance/controls/semaphore-defects.ts'
import { openGround, type Ground } from '../../src/conformance/ground.ts'
import { laws } from '../../src/conformance/laws.ts'
import { runLaw } from '../../src/conformance/run-law.ts'
import { describeEngines } from '../engines/use.ts'
import { lawTimeoutMs } from './describe-laws.ts'
import { subjectOf } from './subjects.ts'

/** Every way in which the library is made wrong on purpose. */
const defects = [
  ...rowDefects,
  ...names.nameDefects,
  ...batchDefects,
  ...leases.leaseDefects,
  ...semaphores.semaphoreDefects,
  ...retries.retryDefects,
  ...claims.claimDefects,
  ...refusals.refusalDefects,
]

/** A law that notices each of them, and the engine on which it does. */
const noticedBy: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  postgres: {
    R1: ['reads rows without locking them', 'takes shared locks where exclusive ones were asked for'],
    R9: [
      'gives no rows where it should say that it cannot lock them',
      'gives connections back without rolling back',
    ],
    R11: ['takes exclusive locks where shared ones were asked for'],
    R14: ['locks rows one after another, in the order in which they were named'],
    N1: ['waits for a lock although it was told not to'],
    K1: ['waits for rows that it should skip'],
    T5: ['keeps the time limit of one lock for those that follow in the transaction'],
    B1: ['takes no lock on tables'],
    B9: ['locks tables one after another, in the order in which they were named'],
    B3: ['keeps only writers out of a table when it should keep readers out as well'],
    A6: ['waits although it was asked not to'],
    A7: ['leaves the lock timeout on the connection', 'gives up at once although it was asked to wait'],
    A13: ['takes the lock inside of the transaction at every isolation level'],
  },
  mysql: {
    R6: ['leaves the time limit of a lock on the connection', 'locks every row of the table'],
    R17: [
      'refuses a held row at once although it was told to wait for some time',
      'waits without a limit',
      'gives receipts for native locks on single rows, whatever it has taken',
      'ends a wait by not listening any more, and leaves it on the server',
    ],
    A1: ['grants a named lock without asking for it'],
    A4: ['names a lock by the first part of its key'],
    A5: ['gives the lock back before COMMIT'],
    A6: ['leaves a lock of the connection on the pool'],
    A18: ['joins a transaction that goes on reading what was there before'],
    A20: ['takes several locks in the order of the caller'],
    A24: ['names a lock by its readable part'],
    A27: ['stores a batch although its rows are not as expected'],
    L6: ['keeps a lease long after its time', 'gives a lease the name of a lock'],
    L7: ['says that it renews, and does not'],
    L10: ['releases whoever holds the lease', 'frees a lease before the time it is to be held'],
    L11: ['numbers its leases anew after each start'],
    L13: ['lets everybody write who once held the lease'],
    P1: ['grants a permit that another holds'],
    P4: ['takes a free permit although others wait for one'],
    L15: ["goes by the client's clock"],
    D1: ['gives up a transaction at its first loss', 'reports as stored what it has rolled back'],
    D2: [
      'repeats a lost transaction without counting and without a look at the clock',
      'reports every failure with an error of its own, and not with the one that led to it',
    ],
    D3: ['takes a COMMIT that the database has answered with a rollback for a success'],
    // after a deadlock of the server the driver's tx refuses it, so it takes a loss that the server knows nothing of
    D7: ['repeats the work inside of the transaction that has lost, on top of what it had done'],
    D10: ['does not look at the signal'],
    D12: ["lets the rollback's failure take the place of the work's own error"],
    D13: ['makes a transaction inside of an open one a part of that, without being asked'],
    D15: [
      'runs the work again when nobody knows whether it was stored',
      'takes a connection that broke at COMMIT for a transaction that lost',
    ],
    C1: [
      'claims jobs without keeping others away from them',
      "counts the time of a claim by the client's clock, which is an hour slow",
      'ends, gives back and extends jobs without telling the database',
    ],
    C2: ['claims in the opposite order'],
    C3: ['claims more jobs than it was asked for'],
    C5: ["counts the time of a claim by the client's clock, which is an hour fast"],
    C7: ['ends a job without looking whose it is by now'],
    B7: ['gives connections back without unlocking their tables'],
    U3: ['gives a weaker lock in the place of one that the engine does not have'],
  },
  sqlite: { R17: ['calls every lock native, whatever it is made of'] },
}

test('for every defect there is a law that notices it', () => {
  const noticed = Object.values(noticedBy).flatMap((byLaw) => Object.values(byLaw).flat())
  expect(noticed.toSorted()).toEqual(defects.map(({ does }) => does).toSorted())
})

describeEngines(
  (context) => {
    let ground: Ground
    beforeAll(async () => {
      ground = await openGround(subjectOf(context.name, 'driver', context.engine.server.url))
    })
    afterAll(() => ground.close())

    for (const [id, mistakes] of Object.entries(noticedBy[context.name] ?? {})) {
      test.each(mistakes)(`${id} notices a library that %s`, async (mistake) => {
        const law = laws.find((one) => one.id === id)
        const sabotage = defects.find(({ does }) => does === mistake)
        if (law === undefined || sabotage === undefined)
          throw new Error(`${id}: there is no such law or defect`)
        expect(await runLaw(ground, law, { timeoutMs: lawTimeoutMs })).toMatchObject({ verdict: 'holds' })
        const { verdict, reason } = await runLaw(ground, law, { sabotage, timeoutMs: 4_000 })
        expect(verdict, reason).toBe('broken')
      })
    }
  },
  { only: Object.keys(noticedBy) },
)
