/** A `boolean` as it comes: as text, where the application has taken the driver's parsers away. */
export function isTrue(value: unknown): boolean {
  return value === true || value === 't'
}

export function isFalse(value: unknown): boolean {
  return value === false || value === 'f'
}
