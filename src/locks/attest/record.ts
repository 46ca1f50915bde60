import type { AttestedCapability } from '../../core/attestation.ts'
import type { Category } from '../../core/category.ts'
import { isUnsupported } from '../../core/support.ts'
import type { Capability, Claims } from './claims.ts'
import type { Verdicts } from './rows-verdict.ts'
import { refused, untried, type Verdict } from './verdict.ts'

/** What has been tried so far. */
export interface Trials {
  readonly isClaimed: (capability: Capability) => boolean
  /** Tries a capability, unless it is refused on every server of its kind. One trial may tell of several. */
  readonly note: (capability: Capability, trial: () => Promise<Verdict | Verdicts>) => Promise<void>
  readonly read: (capability: Capability, obstacle?: string) => AttestedCapability
}

export function createRecord(claims: Claims): Trials {
  const tried = new Map<Capability, Verdict & { readonly tookMs: number }>()
  const isClaimed = (capability: Capability): boolean => !isUnsupported(claims[capability])
  return {
    isClaimed,
    note: async (capability, trial) => {
      if (!isClaimed(capability)) return
      const began = performance.now()
      const verdict = await trial()
      const tookMs = performance.now() - began
      const verdicts = isVerdict(verdict) ? { [capability]: verdict } : verdict
      for (const [name, one] of Object.entries(verdicts)) tried.set(name as Category, { tookMs, ...one })
    },
    read: (capability, obstacle = 'it was not tried') => {
      const claimed = claims[capability]
      const found = isUnsupported(claimed) ? refused(claimed.reason) : tried.get(capability)
      const { observed, detail, tookMs = 0 } = found ?? untried(obstacle)
      return { capability, claimed, observed, detail, tookMs: Math.round(tookMs) }
    },
  }
}

function isVerdict(verdict: Verdict | Verdicts): verdict is Verdict {
  return 'observed' in verdict
}
