import { basename } from 'node:path'

import { serverExample } from '../connect/drivers.ts'
import { openEmbedded } from '../connect/embedded.ts'
import { loadOpenLocks } from '../connect/own-locks.ts'
import { ConnectError, describeAddress } from '../connect/open.ts'
import { openScratch, type ScratchSubject } from '../connect/scratch.ts'
import { CliUsageError, type Terminal } from './command.ts'
import { checkAddress } from './one-address.ts'

/** Why a database could not be had. */
export interface NoSubject {
  readonly title: string
  readonly error: string
}

/** A database that waits for its turn. */
export interface Candidate {
  readonly title: string
  /** Makes it, when its turn has come. */
  readonly open: () => Promise<ScratchSubject | NoSubject>
  /** Removes what was made already, when its turn does not come. */
  readonly discard: () => Promise<void>
}

export interface Candidates {
  readonly candidates: readonly Candidate[]
  /** How to see more databases, in one line. */
  readonly advice?: string
}

/**
 * What the laws are to be run on: servers by their addresses, reached through modules where any are named, or whatever
 * this machine has without a server.
 */
export async function candidatesFor(
  places: readonly string[],
  useEmpty: boolean,
  terminal: Terminal,
): Promise<Candidates> {
  const modules = places.filter(isModule)
  const urls = places.filter((place) => !isModule(place)).map((url) => checkAddress('verify', url))
  if (modules.length > 0) return { candidates: throughModules(modules, urls, useEmpty) }
  if (urls.length > 0) return { candidates: urls.map((url) => candidateAt(url, { useEmpty })) }
  if (useEmpty) throw new CliUsageError('--use-empty: give the address of an empty database')
  const { subjects, leftOut, notBegun } = await openEmbedded({
    onProgress: (line) => terminal.progress(`${line}\n`),
    signal: terminal.signal,
  })
  const advice = adviceFor(leftOut.flatMap(({ missing }) => missing))
  const candidates = [...subjects.map(made), ...notBegun.map((title) => never(title, 'interrupted'))]
  if (candidates.length > 0) return { candidates, advice }
  const reasons = leftOut.map(({ title, reason }) => `${title}: ${reason}`)
  const error = `no embedded database is available here: ${reasons.join('; ')}`
  return { candidates: [never('embedded engines', error)], advice }
}

function adviceFor(packages: readonly string[]): string {
  const server = `npx holdfast verify ${serverExample}`
  return packages.length === 0
    ? `For more databases, name a server: ${server}`
    : `For more databases: npm install --save-dev ${packages.join(' ')}; or name a server: ${server}`
}

function made(subject: ScratchSubject): Candidate {
  return { title: subject.title, open: async () => subject, discard: subject.drop }
}

function never(title: string, error: string): Candidate {
  return { title, open: async () => ({ title, error }), discard: async () => {} }
}

/** No database's file ends like this. */
function isModule(place: string): boolean {
  return /\.[cm]?[jt]s$/.test(place) && !place.includes('://')
}

function throughModules(
  modules: readonly string[],
  urls: readonly string[],
  useEmpty: boolean,
): readonly Candidate[] {
  if (urls.length === 0)
    throw new CliUsageError(`verify: name the address of a database beside ${modules[0]}`)
  return modules.flatMap((name) => urls.map((url) => candidateAt(url, { useEmpty, module: name })))
}

interface Place {
  readonly useEmpty: boolean
  /** The file that opens the application's own locks. */
  readonly module?: string
}

function candidateAt(url: string, { useEmpty, module }: Place): Candidate {
  const title =
    module === undefined ? describeAddress(url) : `${describeAddress(url)} through ${basename(module)}`
  return {
    title,
    open: async () => {
      try {
        const own =
          module === undefined ? undefined : { name: basename(module), open: await loadOpenLocks(module) }
        return await openScratch(url, { useEmpty, own })
      } catch (error) {
        if (!(error instanceof ConnectError)) throw error
        return { title, error: error.message }
      }
    },
    discard: async () => {},
  }
}
