import { restoreStatement, type SettingChange } from '../core/plan.ts'
import type { Session } from '../core/session.ts'
import { inGrace } from './limit.ts'

export interface SettingUse<T> {
  readonly work: () => Promise<T>
  readonly doubt: (why: unknown) => void
  readonly signal: AbortSignal | undefined
  /** Limits how long the change itself may take. @default whoever calls limits all of it */
  readonly bound?: <R>(change: Promise<R>) => Promise<R>
}

/**
 * Runs `work` with a session's setting changed, and puts the old value back, also after an error.
 *
 * A setting that cannot be put back leaves the session in doubt: it must not go to anybody else. Neither must one whose
 * work was aborted: a statement may still wait there for a lock, and what puts the setting back would wait behind it.
 */
export function withSetting<T>(
  session: Pick<Session, 'run'>,
  setting: SettingChange | undefined,
  use: SettingUse<T>,
): Promise<T> {
  return setting === undefined ? use.work() : withChanged(session, setting, use)
}

async function withChanged<T>(
  session: Pick<Session, 'run'>,
  setting: SettingChange,
  { work, doubt, signal, bound = asItIs }: SettingUse<T>,
): Promise<T> {
  const saved = setting.read && (await bound(session.run(setting.read)))[0]?.saved
  const restore = restoreStatement(setting, saved)
  const putBack = async (): Promise<void> => {
    if (signal?.aborted === true) doubt(signal.reason)
    else await inGrace(session.run(restore)).catch(doubt)
  }
  const applied = bound(session.run(setting.apply))
  // Where the work fails with it, it is not waited for: nothing that the caller sends meanwhile comes between the two.
  if (setting.endsWithError === true) applied.catch(() => {})
  else await applied.catch(unsure(doubt))
  try {
    const result = await work()
    await putBack()
    return result
  } catch (error) {
    if (setting.endsWithError === true) await applied
    else await putBack()
    throw error
  }
}

/** A change that has failed may have been made all the same, or in part. */
function unsure(doubt: (why: unknown) => void): (error: unknown) => never {
  return (error) => {
    doubt(error)
    throw error
  }
}

function asItIs<R>(change: Promise<R>): Promise<R> {
  return change
}
