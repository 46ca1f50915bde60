import type { Row } from '../../core/statement.ts'
import { sql } from '../sql.ts'
import type { Question } from '../tools.ts'

export const pluginCheck: Question = {
  ask: sql(
    'SELECT PLUGIN_NAME AS name FROM information_schema.PLUGINS ' +
      "WHERE PLUGIN_NAME = 'METADATA_LOCK_INFO' AND PLUGIN_STATUS = 'ACTIVE'",
  ),
  unknown: 'whether the plugin metadata_lock_info is installed',
}

/** Locks that are held, in a table which is there only after INSTALL SONAME 'metadata_lock_info'. */
export const pluginQuestion: Question = {
  ask: sql(
    'SELECT THREAD_ID AS id, LOCK_MODE AS mode, LOCK_TYPE AS type, ' +
      'TABLE_SCHEMA AS schema_name, TABLE_NAME AS object_name FROM information_schema.METADATA_LOCK_INFO',
  ),
  unknown: 'user locks and metadata locks: this user may not read information_schema.METADATA_LOCK_INFO',
  onlyIf: 'pluginCheck',
}

/** In the form that the performance_schema tells the same things. */
export function pluginRows(rows: readonly Row[] = []): readonly Row[] {
  return rows.map(({ type, mode, ...row }) => ({
    ...row,
    mode: String(mode).replace(/^MDL_/, ''),
    status: 'GRANTED',
    object_type:
      String(type) === 'User lock'
        ? 'USER LEVEL LOCK'
        : String(type)
            .replace(/ metadata lock$/, '')
            .toUpperCase(),
  }))
}
