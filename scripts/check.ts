import { spawn } from 'node:child_process'

/*
 * Runs every check that needs no database, all of them even when one fails, and says in one line each how it went.
 *
 * Their order matters: what comes after `build` looks at what was built.
 */
const checks: Readonly<Record<string, string>> = {
  types: 'tsc -p tsconfig.json',
  page: 'tsc -p src/cli/board/page && tsx scripts/board/write.ts --check',
  lint: 'oxlint --type-aware',
  format: 'oxfmt --check',
  imports: 'tsx scripts/check-imports.ts',
  unused: 'knip --no-progress',
  lockfile: 'tsx scripts/lockfile.ts --check',
  docs: 'tsx scripts/docs/write.ts --check',
  build: 'npm run build --silent',
  package: 'tsx scripts/check-package.ts',
  size: 'tsx scripts/check-size.ts',
}

interface Outcome {
  readonly isOk: boolean
  readonly output: string
  readonly seconds: string
}

async function run(command: string): Promise<Outcome> {
  const before = performance.now()
  const child = spawn(command, { shell: true, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  }
  const code = await new Promise((resolve) => child.on('close', resolve))
  return { isOk: code === 0, output, seconds: ((performance.now() - before) / 1000).toFixed(1) }
}

const summary: string[] = []
for (const [name, command] of Object.entries(checks)) {
  const { isOk, output, seconds } = await run(command)
  if (!isOk) console.log(`\n--- ${name}: ${command}\n${output.trimEnd()}\n`)
  summary.push(`${isOk ? 'ok  ' : 'FAIL'}  ${name.padEnd(10)}${seconds.padStart(6)} s`)
}
console.log(summary.join('\n'))

const failed = summary.filter((line) => line.startsWith('FAIL')).length
console.log(
  failed === 0 ? `all ${summary.length} checks passed` : `${failed} of ${summary.length} checks failed`,
)
if (failed > 0) process.exitCode = 1
