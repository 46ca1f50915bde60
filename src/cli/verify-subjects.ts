import { openEmbedded } from '../connect/embedded.ts'
import { ConnectError, describeAddress } from '../connect/open.ts'
import { openScratch, type ScratchSubject } from '../connect/scratch.ts'
import { CliUsageError, type Terminal } from './command.ts'

/** Why a database could not be had. */
export interface NoSubject {
  readonly title: string
  readonly error: string
}

/** Makes a database when its turn has come. */
export type OpenSubject = () => Promise<ScratchSubject | NoSubject>

/** What the laws are to be run on: servers by their addresses, or whatever this machine has without a server. */
export async function subjectsFor(
  urls: readonly string[],
  useEmpty: boolean,
  terminal: Terminal,
): Promise<readonly OpenSubject[]> {
  if (urls.length > 0) return urls.map((url) => () => openAddress(url, useEmpty))
  if (useEmpty) throw new CliUsageError('--use-empty: give the address of an empty database')
  const { subjects, leftOut } = await openEmbedded()
  for (const { title, reason } of leftOut) terminal.progress(`${title} is left out: ${reason}\n`)
  if (subjects.length > 0) return subjects.map((subject) => async () => subject)
  const error = 'no embedded engine can be had here: npm install better-sqlite3, or give an address'
  return [async () => ({ title: 'embedded engines', error })]
}

async function openAddress(url: string, useEmpty: boolean): Promise<ScratchSubject | NoSubject> {
  try {
    return await openScratch(url, { useEmpty })
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error
    return { title: describeAddress(url), error: error.message }
  }
}
