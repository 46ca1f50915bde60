import { readFile } from 'node:fs/promises'

import { describe, expect, test } from 'vitest'

import { chosenReleases, releases, tarballOf } from '../../scripts/other-nodes/release.ts'

describe('the Nodes that are tested', () => {
  test('are those that the workflow names, each with a checksum for x64 and arm64', async () => {
    const workflow = await readFile(new URL('../../.github/workflows/verify.yml', import.meta.url), 'utf8')
    const majors = releases.map(({ major }) => major)
    expect(workflow).toContain(`node: [${majors.join(', ')}]`)
    for (const release of releases) {
      expect(release.version.split('.', 1)).toEqual([String(release.major)])
      for (const platform of ['linux-x64', 'linux-arm64']) {
        const { spec, sha256 } = tarballOf(release, platform)
        expect(spec).toBe(`node-${platform}@${release.version}`)
        expect(sha256).toMatch(/^[0-9a-f]{64}$/)
      }
    }
    expect(new Set(releases.flatMap(({ sha256 }) => Object.values(sha256))).size).toBe(releases.length * 2)
  })

  test('are all but the one that runs, unless some are named', () => {
    const majorsFor = (words: readonly string[], running: string): readonly number[] =>
      chosenReleases(words, running).map(({ major }) => major)
    expect(majorsFor([], '20.19.0')).toEqual([22, 24])
    expect(majorsFor([], '22.23.3')).toEqual([20, 24])
    expect(majorsFor([], '26.0.0')).toEqual([20, 22, 24])
    expect(majorsFor(['24', '20'], '20.19.0')).toEqual([24, 20])
    expect(() => majorsFor(['21'], '20.19.0')).toThrow('Node 21 is not one of 20, 22, 24')
  })

  test('are left out with a reason on a platform that has no package', () => {
    const [first] = releases
    if (first === undefined) throw new Error('there is none')
    expect(() => tarballOf(first, 'aix-ppc64')).toThrow(/no package with Node 20\.\S+ is known for aix-ppc64/)
  })
})
