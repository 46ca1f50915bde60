import type { Finding } from '../core/attestation.ts'

/** What is told of a server that speaks a known protocol and is something else, on which nothing here has been run. */
export function untested(id: string, name: string, why: string): Finding {
  return {
    id,
    severity: 'warning',
    title: `this server is ${name}, on which Holdfast has not been tested`,
    why,
    mend: 'Run `holdfast verify` on it before you rely on a lock, and read the page on clusters.',
  }
}
