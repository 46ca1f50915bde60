import { spawn } from 'node:child_process'

import { testsOf } from './mutate/tests.ts'

/*
 * Puts mistakes into a folder or a file of src, one at a time, and says which of them no test notices:
 * `npm run mutate -- src/core`. On SQLite alone, and with the quick tests of that folder only.
 */
const targets = process.argv.slice(2)
const folders = Object.keys(testsOf)
const folderOf = (target: string): string | undefined =>
  folders.find((folder) => target === folder || target.startsWith(`${folder}/`))
const chosen = targets.map(folderOf)
if (targets.length === 0 || chosen.includes(undefined)) {
  console.error(`usage: npm run mutate -- <folder or file of ${folders.join(', ')}>`)
  process.exit(1)
}

const files = targets.map((target) => (target.endsWith('.ts') ? target : `${target}/**/*.ts`))
const args = ['run', 'scripts/mutate/stryker.config.json', '--mutate', files.join(',')]
const env = { ...process.env, HOLDFAST_ENGINES: 'sqlite', HOLDFAST_MUTATED: chosen.join(',') }
spawn('stryker', args, { stdio: 'inherit', shell: false, env }).on('close', (code) => {
  process.exitCode = code ?? 1
})
