import { LockUsageError } from './errors.ts'

/** A server's version as numbers, most significant first; what is missing counts as zero. */
export type Version = readonly [major: number, minor: number, patch: number]

/** The first version number in a text such as `PostgreSQL 18.4 on x86_64` or `8.0.36-0ubuntu0.22.04.1`. */
export function parseVersion(text: string): Version {
  const found = /(\d+)(?:\.(\d+))?(?:\.(\d+))?/.exec(text)
  if (found === null) throw new LockUsageError('version', `no version number in ${JSON.stringify(text)}`)
  return [Number(found[1]), Number(found[2] ?? 0), Number(found[3] ?? 0)]
}

export function isAtLeast(version: Version, floor: Version): boolean {
  const differs = floor.findIndex((part, index) => part !== version[index])
  return differs < 0 || (version[differs] ?? 0) > (floor[differs] ?? 0)
}
