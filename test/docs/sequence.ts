import type { Sent } from './taps/tap.ts'

/** What a page says was sent: this, or anything at all. */
export type Step =
  | { readonly isGap: true }
  | { readonly isGap: false; readonly says: string; readonly fits: Fits }

type Fits = (sent: Sent) => boolean

/** The first step that nothing sent fits, or how many were sent that no step stands for. */
export type Mismatch = { readonly step: string } | { readonly left: number }

/** Whether the steps, one after another, are what was sent, all of it. */
export function compareSequence(steps: readonly Step[], sent: readonly Sent[]): Mismatch | undefined {
  let furthest = 0
  const fits = (step: number, at: number): boolean => {
    furthest = Math.max(furthest, step)
    const wanted = steps[step]
    if (wanted === undefined) return at === sent.length
    if (wanted.isGap) return fits(step + 1, at) || (at < sent.length && fits(step, at + 1))
    const one = sent[at]
    return one !== undefined && wanted.fits(one) && fits(step + 1, at + 1)
  }
  if (fits(0, 0)) return undefined
  const missing = steps.slice(furthest).find((step) => !step.isGap)
  return missing === undefined || missing.isGap
    ? { left: sent.length - steps.length }
    : { step: missing.says }
}
