import { readFile, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'

import { addressFields, addressProblems } from './address/fields.ts'
import { readWords } from './command-line.ts'

/*
 * The project's public address is set once, by a release: `npm run address -- https://host/owner/name` writes
 * `repository`, `homepage` and `bugs` into package.json. `--check` refuses a package.json without them, and runs before
 * anything is published: the links of the README lead nowhere on a registry that does not know the repository.
 */
const { values, positionals } = readWords(() =>
  parseArgs({ options: { check: { type: 'boolean', default: false } }, allowPositionals: true }),
)
const manifest = JSON.parse(await readFile('package.json', 'utf8')) as Record<string, unknown>

if (values.check) {
  const problems = readWords(() => addressProblems(manifest))
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) process.exitCode = 1
} else {
  const { files, ...rest } = manifest
  const fields = readWords(() => addressFields(positionals[0] ?? ''))
  const before = Object.entries(rest)
  const place = before.findIndex(([name]) => name === 'type')
  const all = [...before.slice(0, place), ...Object.entries(fields), ['files', files], ...before.slice(place)]
  await writeFile('package.json', `${JSON.stringify(Object.fromEntries(all), undefined, 2)}\n`)
}
