import type { Finding } from '../../core/attestation.ts'
import { judgeSettings, settingsIn, type SettingRule } from '../finding-settings.ts'
import { leaseTableEnd } from '../lease-table-end.ts'
import { sql } from '../sql.ts'
import type { Examination } from '../tools.ts'
import { mysqlRules } from './doctor-settings.ts'

/** What is asked of MySQL and MariaDB alike. SHOW lists the variables that a server has, and needs no rights. */
export function examinationBy(rules: readonly SettingRule[]): Examination {
  const names = [...new Set(rules.map(({ setting }) => `'${setting}'`))].join(', ')
  const ask = sql(`SHOW SESSION VARIABLES WHERE Variable_name IN (${names})`)
  return {
    questions: () => ({ settings: { ask, unknown: 'the settings that concern locks' } }),
    read: ({ settings }) => eachOnce(judgeSettings(rules, settingsIn(settings, 'Variable_name', 'Value'))),
    leaseRow: {
      target: (name) => ({ table: '_leases', key: { name } }),
      remove: (name) => sql('DELETE FROM _leases WHERE name = ?', name),
    },
    leaseTable: {
      ...leaseTableEnd,
      lock: [sql('LOCK TABLES _leases WRITE')],
      unlock: [sql('UNLOCK TABLES')],
    },
    indexes: (table) => sql(indexes, table),
  }
}

/** An expression has no column of its own. */
const indexes =
  "SELECT found.INDEX_NAME AS index_name, COALESCE(found.COLUMN_NAME, '') AS column_name " +
  'FROM information_schema.TABLES AS owner LEFT JOIN information_schema.STATISTICS AS found ' +
  'ON found.TABLE_SCHEMA = owner.TABLE_SCHEMA AND found.TABLE_NAME = owner.TABLE_NAME ' +
  "WHERE owner.TABLE_SCHEMA = DATABASE() AND owner.TABLE_NAME = ? AND owner.TABLE_TYPE = 'BASE TABLE' " +
  'ORDER BY found.INDEX_NAME, found.SEQ_IN_INDEX'

/** Two variables may say the same. */
function eachOnce(findings: readonly Finding[]): readonly Finding[] {
  return findings.filter(({ id }, place) => findings.findIndex((other) => other.id === id) === place)
}

export const examination: Examination = examinationBy(mysqlRules)
