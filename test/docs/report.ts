import { placeOf, type Fence } from './page.ts'
import type { Failure } from './probe.ts'

/** A failure with its place on the page. */
export function failureText(fence: Fence, { line, what, expected, received }: Failure): string {
  const place = placeOf({ page: fence.page, line: fence.line + line })
  return [
    `${place}: ${what}`,
    ...(expected === undefined ? [] : [`  the page says: ${expected}`]),
    ...(received === undefined ? [] : [`  really: ${received}`]),
  ].join('\n')
}

/** All failures of a program in one error, whose stack would only show how programs are run. */
export function pageError(failures: readonly string[]): Error {
  const error = new Error(failures.join('\n'))
  error.stack = `Error: ${error.message}`
  return error
}
