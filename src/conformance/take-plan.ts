import type { Plan } from '../core/plan.ts'
import type { Session } from '../core/session.ts'
import { untilAborted } from '../locks/abort.ts'
import { withSetting } from '../locks/setting.ts'
import { sendLock } from '../locks/take.ts'
import type { Stage } from './stage.ts'

/** Who holds what. */
export interface Holding {
  readonly by: string
  /** In words, for the timeline. */
  readonly does: string
  readonly plan: Plan
}

/**
 * Runs `work` while a session holds a lock, taken once by the plan's own statements: what happens is the engine's
 * answer, with no algorithm around it.
 */
export async function whileHeld<T>(stage: Stage, holding: Holding, work: () => Promise<T>): Promise<T> {
  const { by, does, plan } = holding
  const { sessions } = await stage.client(by)
  const session = await sessions.open()
  const taking = stage.note(by, does, takePlan(session, plan))
  try {
    const result = await untilAborted(taking.then(work), stage.signal, () => {})
    await stage.note(by, 'commit', endPlan(session, plan, 'commit'))
    await session.release()
    return result
  } catch (error) {
    // a statement that still waits ends only with its connection
    if (stage.signal.aborted) await session.destroy(error as Error)
    else await giveBack(session, stage.note(by, 'roll back', endPlan(session, plan, 'rollback')))
    throw error
  }
}

async function takePlan(session: Session<object>, plan: Plan): Promise<void> {
  for (const statement of [...plan.needs, ...plan.beforeBegin]) await session.run(statement)
  await session.begin({ ...(plan.begin !== undefined && { mode: plan.begin }) })
  let doubt: { readonly why: unknown } | undefined
  await withSetting(session, plan.setting, {
    work: () => sendLock(session, plan.inTransaction, 'the lock'),
    doubt: (why) => (doubt = { why }),
    signal: undefined,
  })
  if (doubt !== undefined) throw doubt.why
}

async function endPlan(session: Session<object>, plan: Plan, how: 'commit' | 'rollback'): Promise<void> {
  await session[how]()
  for (const statement of plan.afterEnd) await session.run(statement)
}

async function giveBack(session: Session<object>, ending: Promise<void>): Promise<void> {
  await ending.then(
    () => session.release(),
    (why: unknown) => session.destroy(why as Error),
  )
}
