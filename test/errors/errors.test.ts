import { beforeAll, expect, test } from 'vitest'

import { classifyError } from '../../src/classify.ts'
import { codeInKey } from '../../src/core/classification.ts'
import { isRetryable } from '../../src/core/error-kind.ts'
import { registry, type DialectName } from '../../src/registry.ts'
import { describeEngines, startPrivate, until, type EngineContext } from '../engines/use.ts'
import { isPlayable, play, playAlone, prepare } from './play.ts'
import { allProvocations } from './provocations.ts'
import { expectRemains } from './remains.ts'
import type { Expected, Provocations, Provoked, Scenario } from './scenario.ts'
import type { Stage } from './stage.ts'

const known = await allProvocations()

describeEngines(
  (context) => {
    const provocations = known.get(context.name)
    if (provocations === undefined) return
    beforeAll(() => prepare(context.engine, provocations))
    for (const scenario of provocations.scenarios) {
      const { kind, transaction } = scenario.expect
      test(`${scenario.name}: ${kind}, transaction ${transaction}`, ({ skip }) =>
        prove(context, { provocations, scenario }, skip))
    }
  },
  { only: [...known.keys()] },
)

interface Part {
  readonly provocations: Provocations
  readonly scenario: Scenario
}

async function prove(context: EngineContext, part: Part, skip: (why: string) => void): Promise<void> {
  const { engine, kind, name, server } = context
  const { scenario, provocations } = part
  const look = async ({ error, session, ...rest }: Provoked, stage: Stage): Promise<void> => {
    expectMeaning(name as DialectName, error, scenario.expect)
    if (session === undefined) return
    await expectRemains(scenario.expect.transaction, { stage, session, provocations, ...rest })
  }
  if (!isPlayable(scenario, server)) return skip(`needs ${name} ${scenario.since}`)
  if (scenario.isAlone !== true) {
    await play(engine, part, look)
    return until(async () => (await engine.leftovers()).length === 0, 'a server that holds nothing any more')
  }
  const alone = await startPrivate(name)
  if ('unavailable' in alone) return skip(`needs a server of its own: ${alone.unavailable}`)
  try {
    await playAlone({ kind, server: alone.server }, part, look)
  } finally {
    await alone.stop()
  }
}

/** The same is said whether the dialect is told or must be guessed. */
function expectMeaning(
  dialect: DialectName,
  error: unknown,
  { key, isAnybodys, ...meaning }: Expected,
): void {
  const classified = { ...meaning, retryable: isRetryable(meaning.kind), code: codeInKey(key) }
  expect(classifyError(error, { dialect })).toMatchObject({ ...classified, dialect })
  const guessed = isAnybodys === true ? undefined : guessFor(dialect)
  expect(classifyError(error)).toMatchObject({ ...classified, ...(guessed && { dialect: guessed }) })
  expect(classifyError(error).dialect).toBe(guessed)
  if (isAnybodys !== true) expect(keyOf(dialect, error)).toBe(key)
}

/** Nothing in an error tells MariaDB from MySQL. */
function guessFor(dialect: DialectName): DialectName {
  return dialect === 'mariadb' ? 'mysql' : dialect
}

function keyOf(dialect: DialectName, error: unknown): string | undefined {
  const { original } = classifyError(error, { dialect })
  return registry[dialect].errors.codeOf(original as Record<string, unknown>, true)
}
