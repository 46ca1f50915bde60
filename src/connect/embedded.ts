import { engines, type EmbeddedEngine } from './embedded/engines.ts'
import type { Making } from './embedded/making.ts'
import { findModule } from './load-module.ts'
import type { ScratchSubject } from './scratch.ts'

/** The databases that need no server of the user's. */
export interface Embedded {
  readonly subjects: readonly ScratchSubject[]
  readonly leftOut: readonly LeftOut[]
  /** What those would be called that were not made, because `signal` came first. */
  readonly notBegun: readonly string[]
  /** Drops all of them. */
  readonly drop: () => Promise<void>
}

/** An engine that cannot be had on this machine as it is. */
export interface LeftOut {
  readonly title: string
  /** In one line. */
  readonly reason: string
  /** The packages that are not installed; none when the reason is another one. */
  readonly missing: readonly string[]
}

export interface EmbeddedOptions {
  /** Told at once what is made, and then what became of each engine: setting up a server takes some seconds. */
  readonly onProgress?: (line: string) => void
  /** Ends the making. What was made by then is given all the same, and has to be dropped. */
  readonly signal?: AbortSignal
}

/** Opens every engine that can be had without a server, in temporary folders that go with `drop`, or with the process. */
export async function openEmbedded(options: EmbeddedOptions = {}): Promise<Embedded> {
  const { onProgress = () => {}, signal } = options
  onProgress(`preparing ${engines.map(({ title }) => title).join(', ')}`)
  const tried = await Promise.all(
    engines.map((engine) =>
      tryOpen(engine, { tell: (words) => onProgress(`${engine.title} ${words}`), signal }),
    ),
  )
  const subjects = tried.flatMap((one) => (typeof one === 'object' && 'drop' in one ? one : []))
  return {
    subjects,
    leftOut: tried.flatMap((one) => (typeof one === 'object' && 'reason' in one ? one : [])),
    notBegun: tried.filter((one) => typeof one === 'string'),
    drop: async () => {
      const ends = await Promise.allSettled(subjects.map((subject) => subject.drop()))
      const failed = ends.find((end) => end.status === 'rejected')
      if (failed !== undefined) throw failed.reason
    },
  }
}

/** Gives no more than its name when it was not made because of the signal. */
async function tryOpen(
  { title, subjectTitle, packages, open }: EmbeddedEngine,
  making: Making,
): Promise<ScratchSubject | LeftOut | string> {
  const { tell, signal } = making
  const missing = packages.filter((name) => findModule(name) === undefined)
  const leaveOut = (reason: string): LeftOut => {
    tell(`is left out: ${reason}`)
    return { title, reason, missing }
  }
  if (missing.length > 0) {
    return leaveOut(`${missing.join(' and ')} ${missing.length > 1 ? 'are' : 'is'} not installed`)
  }
  const isOver = (): boolean => signal?.aborted === true
  if (isOver()) return subjectTitle
  try {
    const subject = await open(making)
    tell('is ready')
    return subject
  } catch (error) {
    // a Ctrl-C reaches the programs that prepare a server, too
    if (isOver()) return subjectTitle
    const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n', 1)
    return leaveOut(line)
  }
}
