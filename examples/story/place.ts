import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { ScratchSubject } from 'holdfast/conformance'

import { readArguments, refuse, type Arguments, type Telling } from './arguments.ts'
import { createMeeting } from './meeting.ts'

/** A database that a program has to itself; at the end it is taken away. */
export interface Place extends Arguments, AsyncDisposable {
  /** As the command line has it; a file in a temporary folder where it has none. */
  readonly url: string
  readonly scratch: ScratchSubject
  /** Is done before the database is taken away. */
  readonly atEnd: (close: () => Promise<unknown>) => void
  /** See the story. */
  readonly meeting: (count: number) => () => Promise<void>
}

/** Reads the command line and makes a database beside the one that it names. Ends the process where it cannot. */
export async function openPlace(telling: Telling): Promise<Place> {
  const given = readArguments(telling)
  const folder = given.url === undefined ? await mkdtemp(join(tmpdir(), 'holdfast-example-')) : undefined
  const url = given.url ?? `sqlite:${join(folder ?? '', 'story.sqlite')}`
  const scratch = await scratchAt(url)
  const closing: (() => Promise<unknown>)[] = []
  const dispose = async (): Promise<void> => {
    await Promise.allSettled(closing.map((close) => close()))
    await scratch.drop()
    if (folder !== undefined) await rm(folder, { recursive: true })
  }
  const endAtOnce = (): void => void dispose().finally(() => process.exit(130))
  const onInterrupt = telling.onInterrupt ?? endAtOnce
  process.on('SIGINT', onInterrupt)
  return {
    ...given,
    url,
    scratch,
    atEnd: (close) => void closing.push(close),
    meeting: (count) => (given.withoutLock ? createMeeting(count) : async () => {}),
    [Symbol.asyncDispose]: async () => {
      await dispose()
      process.off('SIGINT', onInterrupt)
    },
  }
}

async function scratchAt(url: string): Promise<ScratchSubject> {
  // not before the command line is known to be right: a mistake in it is to be told at once
  const { ConnectError, openScratch } = await import('holdfast/conformance')
  try {
    return await openScratch(url)
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error
    return refuse(error.message, error.failure === 'address' ? 2 : 3)
  }
}
