/** A law does not hold: the message is what was seen. */
export class BrokenLawError extends Error {
  override readonly name = 'BrokenLawError'
}
