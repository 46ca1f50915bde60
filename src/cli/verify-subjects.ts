import { serverExample } from '../connect/drivers.ts'
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

export interface Subjects {
  readonly open: readonly OpenSubject[]
  /** How to see more databases, in one line. */
  readonly advice?: string
}

/** What the laws are to be run on: servers by their addresses, or whatever this machine has without a server. */
export async function subjectsFor(
  urls: readonly string[],
  useEmpty: boolean,
  terminal: Terminal,
): Promise<Subjects> {
  if (urls.length > 0) return { open: urls.map((url) => () => openAddress(url, useEmpty)) }
  if (useEmpty) throw new CliUsageError('--use-empty: give the address of an empty database')
  const { subjects, leftOut } = await openEmbedded({ onProgress: (line) => terminal.progress(`${line}\n`) })
  const advice = adviceFor(leftOut.flatMap(({ missing }) => missing))
  if (subjects.length > 0) return { open: subjects.map((subject) => async () => subject), advice }
  const reasons = leftOut.map(({ title, reason }) => `${title}: ${reason}`)
  const error = `no embedded engine can be had here: ${reasons.join('; ')}`
  return { open: [async () => ({ title: 'embedded engines', error })], advice }
}

function adviceFor(packages: readonly string[]): string {
  const server = `npx holdfast verify ${serverExample}`
  return packages.length === 0
    ? `For more databases, name a server: ${server}`
    : `For more databases: npm install --save-dev ${packages.join(' ')}; or name a server: ${server}`
}

async function openAddress(url: string, useEmpty: boolean): Promise<ScratchSubject | NoSubject> {
  try {
    return await openScratch(url, { useEmpty })
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error
    return { title: describeAddress(url), error: error.message }
  }
}
