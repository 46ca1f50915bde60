import type { Finding, Severity } from '../core/attestation.ts'
import type { Row } from '../core/statement.ts'

/** A setting of a server by its name, when it matters for locks, and what it then means. */
export interface SettingRule {
  readonly setting: string
  readonly isAmiss: (value: string) => boolean
  readonly id: string
  readonly severity: Severity
  /** What is the case; `{value}` stands for the setting's value. */
  readonly title: string
  readonly why: string
  readonly mend: string
}

/** Values of settings by their names. */
export type Settings = ReadonlyMap<string, string>

/** Settings that a server lists as rows of a name and a value. */
export function settingsIn(rows: readonly Row[] | undefined, name: string, value: string): Settings {
  return new Map((rows ?? []).map((row) => [String(row[name]), String(row[value])]))
}

/** Settings that a server gives as the columns of one row. */
export function settingsOf(row: Row | undefined): Settings {
  return new Map(Object.entries(row ?? {}).map(([name, value]) => [name, String(value)]))
}

/** What is amiss with these settings. One that the server does not have says nothing. */
export function judgeSettings(rules: readonly SettingRule[], settings: Settings): readonly Finding[] {
  return rules.flatMap(({ setting, isAmiss, ...rule }) => {
    const value = settings.get(setting)
    if (value === undefined || !isAmiss(value)) return []
    return [{ ...rule, title: rule.title.replaceAll('{value}', value) }]
  })
}

export function isOn(value: string): boolean {
  return !['off', '0', 'false', 'no', ''].includes(value.toLowerCase())
}

/** Whether a time limit is set. */
export function isLimited(value: string): boolean {
  return Number(value) > 0
}
