import type { Writable } from 'node:stream'

import { exitCodes, type Outcome } from './command.ts'

/** Standard output or standard error, which may be closed, or a file on a disk that is full. */
export interface Outlet {
  readonly title: string
  readonly write: (text: string) => void
  /** Writes, and waits until all is written or cannot be. */
  readonly end: (text: string) => Promise<void>
  /** Why nothing more can be written; undefined while it can. */
  readonly failure: () => NodeJS.ErrnoException | undefined
}

/** Calls `onFailure` when nothing more can be written: what is done for this output is in vain from then on. */
export function outlet(title: string, stream: Writable, onFailure: () => void): Outlet {
  let failure: NodeJS.ErrnoException | undefined
  const fail = (error: Error): void => {
    failure ??= error
    onFailure()
  }
  stream.on('error', fail)
  return {
    title,
    write: (text) => {
      if (failure === undefined) stream.write(text)
    },
    end: (text) =>
      new Promise((resolve) => {
        if (failure !== undefined) return resolve()
        stream.write(text, (error) => {
          if (error !== undefined && error !== null) fail(error)
          resolve()
        })
      }),
    failure: () => failure,
  }
}

/**
 * Says the last word of a command, and gives the exit code.
 *
 * A pipe that its reader has closed is no error, and ends the program without a word, as a signal would.
 */
export async function finish({ text, exitCode }: Outcome, out: Outlet, err: Outlet): Promise<number> {
  const both = [out, err]
  const failed = (): Outlet | undefined => both.find((one) => one.failure() !== undefined)
  if (failed() === undefined) await (exitCode === exitCodes.ok ? out : err).end(text)
  for (const one of both) await one.end('')
  const broken = failed()
  const failure = broken?.failure()
  if (broken === undefined || failure === undefined) return exitCode
  if (failure.code === 'EPIPE') return exitCodes.closed
  await err.end(`holdfast: cannot write to ${broken.title}: ${failure.message}\n`)
  return exitCodes.unwritten
}
