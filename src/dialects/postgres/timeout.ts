import type { SettingChange } from '../../core/plan.ts'
import type { Wait } from '../../core/request.ts'
import { sql } from '../sql.ts'

/**
 * `lock_timeout` for one lock. A blocking call under a timeout keeps the server's deadlock detector in play, which
 * trying again and again would not.
 *
 * `pg_settings.setting` is a plain number of milliseconds, where SHOW gives text with a unit.
 */
export function lockTimeout(wait: Wait, scope: 'LOCAL' | 'SESSION'): { readonly setting?: SettingChange } {
  if (typeof wait !== 'object') return {}
  return {
    setting: {
      ...(scope === 'LOCAL' && { endsWithError: true }),
      read: sql("SELECT setting AS saved FROM pg_settings WHERE name = 'lock_timeout'"),
      apply: sql(`SET ${scope} lock_timeout = ${wait.timeoutMs}`),
      restore: sql(`SET ${scope} lock_timeout = {saved}`),
    },
  }
}
