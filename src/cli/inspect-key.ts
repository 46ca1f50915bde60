import { canonicalKey, type KeyPart } from '../core/key.ts'
import { CliUsageError } from './command.ts'

/**
 * The keys that a text may stand for: its parts between the slashes, with whole numbers as numbers and as text, and all
 * of it as one part. A key that nobody has asked for leads to no lock, so guessing shows nothing that is not there.
 */
export function keysIn(text: string): readonly (readonly KeyPart[])[] {
  const parts = text.split('/')
  const keys = [parts.map(numberOrText), parts, [text]]
  try {
    for (const key of keys) canonicalKey(key)
  } catch (error) {
    throw new CliUsageError(`--key ${JSON.stringify(text)}: ${(error as Error).message}`)
  }
  return keys
}

function numberOrText(part: string): KeyPart {
  return /^(?:0|-?[1-9]\d*)$/.test(part) ? BigInt(part) : part
}
