import { inWords } from '../core/in-words.ts'

/** A mistake in what is called, or in what it begins, must not end the process that it watches. */
export function tellSafely<Report>(name: string, tell: (report: Report) => unknown, report: Report): void {
  const failed = (error: unknown): void =>
    process.emitWarning(`${name} has failed: ${inWords(error)}`, 'HoldfastWarning')
  try {
    Promise.resolve(tell(report)).catch(failed)
  } catch (error) {
    failed(error)
  }
}
