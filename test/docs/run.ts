import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

import { openDatabase } from './database.ts'
import { execute, type Executed } from './execute.ts'
import { dbFence, prismaClient, tablesFence } from './files.ts'
import { placeOf, root, type Fence } from './page.ts'
import type { Program } from './plan.ts'
import { createProbe } from './probe.ts'
import { failureText, pageError } from './report.ts'
import { rewrite, type Rewritten } from './rewrite.ts'
import { missent } from './statements.ts'
import { tapOf } from './taps/taps.ts'
import { enginesIn, type Target } from './words.ts'

/** Runs a program on an engine, or by itself. Rejects with everything that is not as the page says. */
export async function runProgram(program: Program, target?: Target): Promise<void> {
  const database = target && (await openDatabase(target.engine, program.setUp))
  try {
    await inFolder(async (folder) => {
      const failures = await runIn(folder, { program, target, url: database?.server.url })
      if (failures.length > 0) throw pageError(failures)
    })
  } finally {
    await database?.close()
  }
}

interface Job {
  readonly program: Program
  readonly target: Target | undefined
  readonly url: string | undefined
}

async function runIn(folder: string, { program, target, url }: Job): Promise<readonly string[]> {
  const { fence, usesDb } = program
  const { code, marks } = rewritten(fence)
  const file = fence.words.includes('db') ? 'db.ts' : 'program.ts'
  if (target !== undefined) await writeFiles(folder, target)
  await writeFile(`${folder}/${file}`, code)
  const probe = createProbe(marks)
  const executed = await execute({
    folder,
    file,
    offset: fence.line,
    url,
    probe,
    usesDb,
    tap: target && (await tapOf(target.engine)),
    knowsServer: program.sends.length > 0,
  })
  return [
    ...[...executed.failures, ...probe.failures()].map((failure) => failureText(fence, failure)),
    ...wrongOutput(program, executed),
    ...wrongStatements(program, executed, target),
  ]
}

function wrongOutput({ prints }: Program, { printed }: Executed): readonly string[] {
  if (prints === undefined || printed === prints.text) return []
  const texts = { expected: `\n${prints.text}`, received: `\n${printed}` }
  return [failureText(prints, { line: 0, what: 'the program prints something else', ...texts })]
}

function wrongStatements({ sends }: Program, { sent }: Executed, target?: Target): readonly string[] {
  return sends.flatMap((fence) => {
    const named = enginesIn(fence)
    if (target === undefined || (named.length > 0 && !named.includes(target.engine))) return []
    const failure = missent(fence, sent)
    return failure === undefined ? [] : [failureText(fence, failure)]
  })
}

/** The files that a program can import. */
async function writeFiles(folder: string, target: Target): Promise<void> {
  await writeFile(`${folder}/db.ts`, rewritten(await dbFence(target)).code)
  const tables = await tablesFence()
  if (tables !== undefined) await writeFile(`${folder}/tables.ts`, tables.text)
  await mkdir(`${folder}/generated`)
  await writeFile(`${folder}/generated/client.ts`, prismaClient(target))
}

function rewritten(fence: Fence): Rewritten {
  try {
    return rewrite(fence)
  } catch (error) {
    throw pageError([`${placeOf(fence)}: ${(error as Error).message}`])
  }
}

/** A folder in which imports find the packages that are installed here; it is taken away again. */
export async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const parent = fileURLToPath(new URL('.docs-run/', root))
  await mkdir(parent, { recursive: true })
  const folder = await mkdtemp(parent)
  try {
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
