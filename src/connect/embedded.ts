import { engines, type EmbeddedEngine, type Tell } from './embedded/engines.ts'
import { findModule } from './load-module.ts'
import type { ScratchSubject } from './scratch.ts'

/** The databases that need no server of the user's. */
export interface Embedded {
  readonly subjects: readonly ScratchSubject[]
  readonly leftOut: readonly LeftOut[]
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
}

/** Opens every engine that can be had without a server, in temporary folders that go with `drop`, or with the process. */
export async function openEmbedded({ onProgress = () => {} }: EmbeddedOptions = {}): Promise<Embedded> {
  onProgress(`preparing ${engines.map(({ title }) => title).join(', ')}`)
  const tried = await Promise.all(
    engines.map((engine) => tryOpen(engine, (words) => onProgress(`${engine.title} ${words}`))),
  )
  const subjects = tried.flatMap((one) => ('drop' in one ? one : []))
  return {
    subjects,
    leftOut: tried.flatMap((one) => ('drop' in one ? [] : one)),
    drop: async () => {
      const ends = await Promise.allSettled(subjects.map((subject) => subject.drop()))
      const failed = ends.find((end) => end.status === 'rejected')
      if (failed !== undefined) throw failed.reason
    },
  }
}

async function tryOpen(engine: EmbeddedEngine, tell: Tell): Promise<ScratchSubject | LeftOut> {
  const { title, packages, open } = engine
  const missing = packages.filter((name) => findModule(name) === undefined)
  const leaveOut = (reason: string): LeftOut => {
    tell(`is left out: ${reason}`)
    return { title, reason, missing }
  }
  if (missing.length > 0) {
    return leaveOut(`${missing.join(' and ')} ${missing.length > 1 ? 'are' : 'is'} not installed`)
  }
  try {
    const subject = await open(tell)
    tell('is ready')
    return subject
  } catch (error) {
    const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n', 1)
    return leaveOut(line)
  }
}
