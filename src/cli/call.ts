import { parseArgs } from 'node:util'

import { CliUsageError, parserOptions, type Call, type Command, type Terminal } from './command.ts'

/** Reads what stands behind a command's name. Throws when an option is unknown or lacks its value. */
export function parseCall(command: Command, args: readonly string[], terminal: Terminal): Call {
  const { positionals, values } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: parserOptions(command),
  })
  const texts = (option: string): readonly string[] =>
    [values[option]].flat().filter((value) => typeof value === 'string')
  const text = (option: string): string | undefined => texts(option).at(-1)
  return {
    positionals,
    texts,
    text,
    flag: (option) => values[option] === true,
    number: (option, least = 1) => wholeNumber(option, text(option), least),
    terminal,
  }
}

function wholeNumber(option: string, text: string | undefined, least: number): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(value) && value >= least) return value
  throw new CliUsageError(`--${option}: ${JSON.stringify(text)} is not a whole number from ${least} up`)
}
