import { amount } from './findings.ts'
import { showDuration } from './duration.ts'
import { shorten, visible } from './visible.ts'

/** How far a run is. */
export interface ProgressStep {
  readonly done: number
  readonly total: number
  readonly broken: number
  /** The law that runs now. */
  readonly law: string
  readonly subject: string
  /** Since the run began: the clock belongs to whoever calls. */
  readonly elapsedMs: number
}

/** Says what to write when something happened: nothing, when it is too early for another line. */
export interface Progress {
  readonly step: (step: ProgressStep) => string
  /** Takes the line away again, so that the report begins on a clean one. */
  readonly end: () => string
}

const clearLine = '\r\u001b[2K'
const betweenLinesMs = 5000

/**
 * Live progress: one line that is written over and over where people watch, elsewhere a line for each database and one
 * every five seconds.
 */
export function createProgress(screen: {
  readonly isInteractive: boolean
  readonly columns: number
}): Progress {
  const { isInteractive, columns } = screen
  let last: ProgressStep | undefined
  const isDue = (step: ProgressStep): boolean =>
    last === undefined ||
    last.subject !== step.subject ||
    step.elapsedMs - last.elapsedMs >= betweenLinesMs ||
    (step.done === step.total && last.done !== step.total)
  return {
    step: (step) => {
      // one column stays free: a full line would go on in the next one, which cannot be taken away
      if (isInteractive) {
        last = step
        return `${clearLine}${progressLine(step, columns - 1)}`
      }
      if (!isDue(step)) return ''
      last = step
      return `${progressLine(step, Infinity)}\n`
    },
    end: () => (isInteractive && last !== undefined ? clearLine : ''),
  }
}

const barWidth = 20

/** A bar, the counts, the time that is left, and what runs now; cut where the screen ends. */
export function progressLine(step: ProgressStep, width: number): string {
  const { done, total, broken, law, subject } = step
  const filled = total === 0 ? 0 : Math.floor((Math.min(done, total) / total) * barWidth)
  const bar = `[${'#'.repeat(filled)}${'-'.repeat(barWidth - filled)}]`
  const parts = [
    `${bar} ${String(done).padStart(String(total).length)}/${amount(total, 'law')}`,
    ...(broken === 0 ? [] : [`${broken} BROKEN`]),
    ...timeLeft(step),
    visible(`${subject}: ${law}`),
  ]
  return shorten(parts.join('  '), width)
}

/** From the mean of the laws so far; nothing before there is one. */
function timeLeft({ done, total, elapsedMs }: ProgressStep): readonly string[] {
  if (done === 0 || done >= total) return []
  const seconds = Math.ceil(((elapsedMs / done) * (total - done)) / 1000)
  return [`about ${seconds < 60 ? `${seconds} s` : showDuration(seconds * 1000)} left`]
}
