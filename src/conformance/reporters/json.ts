import type { Report } from '../report.ts'
import { visibleJson } from './visible.ts'

/** The report itself, for programs. */
export function json(report: Report): string {
  return `${visibleJson(report)}\n`
}
