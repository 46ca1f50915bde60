import { expect, test } from 'vitest'

import packageJson from '../../package.json' with { type: 'json' }

/** What cannot be had here in its lowest version, and why. */
const untested: Readonly<Record<string, string>> = {
  '@duckdb/node-api': 'says no range: each version is one of DuckDB',
  'better-sqlite3': 'is compiled here, for one Node, once in this project',
}

const peers: Readonly<Record<string, string>> = packageJson.peerDependencies
const installed = Object.entries(packageJson.devDependencies).map(([name, version]) => {
  const [, alias, own] = /^npm:(.+)@(.+)$/.exec(version) ?? [undefined, name, version]
  return { name: alias, version: own }
})

/** The first version that a range names, with all its numbers. */
function lowestOf(range: string): string {
  const [major = '', minor = '0', patch = '0'] = /\d+(?:\.\d+)*/.exec(range)?.[0].split('.') ?? []
  return `${major}.${minor}.${patch}`
}

test.each(Object.keys(peers).filter((name) => !Object.hasOwn(untested, name)))(
  'the lowest version that is allowed of %s is installed, for the tests',
  (name) => {
    const versions = installed.filter((own) => own.name === name).map(({ version }) => version)
    expect(versions).toContain(lowestOf(peers[name] ?? ''))
  },
)

test('every peer may be missing', () => {
  expect(Object.keys(packageJson.peerDependenciesMeta).toSorted()).toEqual(Object.keys(peers).toSorted())
})

test('what is not tested is a peer', () => {
  expect(Object.keys(peers)).toEqual(expect.arrayContaining(Object.keys(untested)))
})
