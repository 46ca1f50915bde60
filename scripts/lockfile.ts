import { readFile, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'

import { readWords } from './command-line.ts'
import {
  entriesWithAddress,
  entriesWithBadChecksum,
  missingEntries,
  unseenEntries,
  type Lockfile,
} from './lockfile/entries.ts'

/*
 * Keeps the lock files complete.
 *
 * A registry that does not carry a package's binaries for other platforms makes npm leave them out of the lock file,
 * and `npm ci` then refuses that file as out of step. They are added here: by exact version, and with the platform
 * that their name tells, so that no other platform fetches them. `--check` refuses a file that lacks one, one with a
 * checksum that is none, and one in which a platform that Holdfast is tested on needs a package that the registry does
 * not have.
 */

function check(name: string, lockfile: Lockfile): void {
  const missing = [...missingEntries(lockfile).keys()]
  const unseen = unseenEntries(lockfile)
  const addresses = entriesWithAddress(lockfile)
  const bad = entriesWithBadChecksum(lockfile)
  for (const entry of missing) console.error(`${name} has no entry for ${entry}`)
  for (const entry of addresses) console.error(`${name} names a registry for ${entry}`)
  for (const entry of bad) console.error(`${name} has no sha512 checksum of 64 bytes for ${entry}`)
  for (const entry of unseen) {
    console.error(`${name} has no checksum for ${entry}: choose a version whose binaries the registry has`)
  }
  if (missing.length > 0) console.error('run: npm run lockfile')
  if (missing.length + unseen.length + addresses.length + bad.length > 0) process.exitCode = 1
}

async function complete(name: string, lockfile: Lockfile): Promise<void> {
  const missing = missingEntries(lockfile)
  const packages = Object.entries({ ...lockfile.packages, ...Object.fromEntries(missing) })
  packages.sort(([a], [b]) => a.localeCompare(b, 'en'))
  const text = JSON.stringify({ ...lockfile, packages: Object.fromEntries(packages) }, null, 2)
  await writeFile(new URL(name, root), `${text}\n`)
  console.log(`${name}: ${missing.size} entries added`)
}

const root = new URL('../', import.meta.url)
const options = readWords(() => parseArgs({ options: { check: { type: 'boolean', default: false } } }).values)
/** Ours, and that of the packages which Holdfast is measured against. */
for (const name of ['package-lock.json', 'bench/package-lock.json']) {
  const lockfile = JSON.parse(await readFile(new URL(name, root), 'utf8')) as Lockfile
  if (options.check) check(name, lockfile)
  else await complete(name, lockfile)
}
