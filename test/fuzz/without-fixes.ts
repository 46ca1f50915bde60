import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

import { fixes, type Fix } from './fixes.ts'

/*
 * Takes the fixes out, one by one, and says how long the fuzzer needs to find what is wrong then:
 *
 *   npm run fuzz:fixes -- --minutes 10 --seed 1 13 14
 *
 * Without a number all of them; `--engine` and `--way` choose among the ways that showed it.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
    engine: { type: 'string' },
    way: { type: 'string' },
  },
})

/** A copy of the sources and the tests in which the fix is missing. */
async function copyWithout({ changes }: Fix): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-without-'))
  for (const name of ['src', 'test', 'package.json', 'tsconfig.json'])
    await cp(name, join(folder, name), { recursive: true })
  await symlink(resolve('node_modules'), join(folder, 'node_modules'))
  for (const { file, from, to } of changes) {
    const place = join(folder, file)
    const source = await readFile(place, 'utf8')
    if (!source.includes(from)) throw new Error(`${file} does not have: ${from}`)
    await writeFile(
      place,
      source.replace(from, () => to),
    )
  }
  return folder
}

/** What the fuzzer says of one way, with the fix taken out. */
function fuzzIn(folder: string, engine: string, way: string): Promise<string> {
  const { minutes, seed } = values
  const args = ['--import', 'tsx', 'test/fuzz/run.ts', '--as-found', '--minutes', minutes]
  args.push('--seed', seed, '--engine', engine, '--way', way)
  return new Promise((told) => {
    execFile(process.execPath, args, { cwd: folder }, (_, stdout, stderr) => told(stdout || stderr))
  })
}

const chosen = fixes.filter(
  ({ name }) => positionals.length === 0 || positionals.some((number) => /^\d+/.exec(name)?.[0] === number),
)
for (const fix of chosen) {
  const folder = await copyWithout(fix)
  console.log(`\n${fix.name}`)
  for (const [engine, way] of fix.shownBy) {
    if (engine !== (values.engine ?? engine) || way !== (values.way ?? way)) continue
    console.log((await fuzzIn(folder, engine, way)).trim())
  }
  await rm(folder, { recursive: true, force: true })
}
