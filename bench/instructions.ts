import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { runCommand } from '../test/engines/run-command.ts'
import { startChild } from './child.ts'

interface Rounds {
  /** Not counted, and many times faster than what is. */
  readonly warmUp: number
  readonly count: number
}

/**
 * How many instructions the processor carries out for one of what a program does, which answers a number with a line
 * when it has done it that often. Undefined where there is no valgrind.
 */
export async function countInstructions(
  program: string,
  args: readonly string[],
  { warmUp, count }: Rounds,
): Promise<number | undefined> {
  const hasValgrind = await runCommand('valgrind', ['--version']).then(
    () => true,
    () => false,
  )
  if (!hasValgrind) return undefined
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-instructions-'))
  const child = await startChild(program, args, [
    'valgrind',
    '--quiet',
    '--tool=callgrind',
    '--instr-atstart=no',
    '--smc-check=all-non-file', // Node writes machine code as it goes
    `--callgrind-out-file=${folder}/counts`,
    process.execPath,
    '--single-threaded',
  ])
  try {
    await child.ask(String(warmUp))
    await runCommand('callgrind_control', ['--instr=on', String(child.pid)])
    await child.ask(String(count))
    // to switch it off would forget what was counted
    await runCommand('callgrind_control', ['--dump', String(child.pid)])
    return (await totalIn(folder)) / count
  } finally {
    await child.kill()
    await rm(folder, { recursive: true, force: true })
  }
}

async function totalIn(folder: string): Promise<number> {
  let sum = 0
  for (const file of await readdir(folder)) {
    const [, total = '0'] =
      /^(?:totals|summary): (\d+)/m.exec(await readFile(join(folder, file), 'utf8')) ?? []
    sum += Number(total)
  }
  return sum
}
