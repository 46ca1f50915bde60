import type { SettingChange } from '../../core/plan.ts'
import type { Wait } from '../../core/request.ts'
import { sql } from '../sql.ts'

/**
 * `lock_timeout` for one lock. A blocking call under a timeout keeps the server's deadlock detector in play, which
 * trying again and again would not.
 */
export function lockTimeout(wait: Wait, scope: 'LOCAL' | 'SESSION'): { readonly setting?: SettingChange } {
  if (typeof wait !== 'object') return {}
  return { setting: scope === 'LOCAL' ? local(wait.timeoutMs) : session(wait.timeoutMs) }
}

const keep = "set_config('holdfast.lock_timeout', current_setting('lock_timeout'), true)"
const putBack = "set_config('lock_timeout', current_setting('holdfast.lock_timeout'), true)"

/**
 * The server keeps the old value for the length of the transaction, in a setting of our own: nobody has to read it.
 * No statement has parameters, so that all of them can travel with BEGIN.
 */
function local(ms: number): SettingChange {
  return {
    endsWithError: true,
    apply: sql(`SELECT ${keep}; SET LOCAL lock_timeout = ${ms}`),
    restore: sql(`SELECT ${putBack}`),
    columns: { apply: `${keep}, set_config('lock_timeout', '${ms}', true)`, restore: putBack },
  }
}

/** `pg_settings.setting` is a plain number of milliseconds, where SHOW gives text with a unit. */
function session(ms: number): SettingChange {
  return {
    read: sql("SELECT setting AS saved FROM pg_settings WHERE name = 'lock_timeout'"),
    apply: sql(`SET SESSION lock_timeout = ${ms}`),
    restore: sql('SET SESSION lock_timeout = {saved}'),
  }
}
