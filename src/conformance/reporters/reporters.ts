import type { Report } from '../report.ts'
import { html } from './html.ts'
import { json } from './json.ts'
import { junit } from './junit.ts'
import { markdown } from './markdown.ts'
import { terminal } from './terminal.ts'
import type { Screen } from './text-table.ts'

/** The formats that a {@link Report} can be written in. */
export type ReporterName = 'terminal' | 'json' | 'junit' | 'markdown' | 'html'

/** A report as text. Only what is for a screen looks at the screen. */
export type Reporter = (report: Report, screen: Screen) => string

/** The one list of reporters. */
export const reporters: Readonly<Record<ReporterName, Reporter>> = { terminal, json, junit, markdown, html }

export function isReporterName(name: string): name is ReporterName {
  return Object.hasOwn(reporters, name)
}
