import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { dbFence, prismaClient, tablesFence } from './files.ts'
import { marksOf } from './marks.ts'
import { placeOf, root, type Fence } from './page.ts'
import type { Program } from './plan.ts'
import type { Failure } from './probe.ts'
import { failureText } from './report.ts'
import { padded } from './rewrite.ts'
import { inFolder } from './run.ts'
import { importsIn, syntaxOf } from './syntax.ts'
import { titleOf, type Target } from './words.ts'

const run = promisify(execFile)
const tsc = fileURLToPath(new URL('node_modules/typescript/bin/tsc', root))

/** A block as the compiler sees it: one file for each target, beside the `db.ts` of that target. */
interface Unit {
  readonly program: Program
  readonly file: string
  readonly on: string
}

interface Diagnostic {
  readonly file: string
  readonly line: number
  readonly code: string
  readonly message: string
}

/** Compiles all programs at once. Gives, for each, what the compiler says and the page does not, and the reverse. */
export async function compile(
  programs: readonly Program[],
): Promise<ReadonlyMap<Program, readonly string[]>> {
  const wrong = new Map(programs.map((program) => [program, misspelt(program.fence)]))
  // the compiler says nothing about types while there is text that it cannot read
  const readable = programs.filter(({ fence }) => canCompile(fence) && misspelt(fence).length === 0)
  return inFolder(async (folder) => {
    const units = readable.flatMap(unitsOf)
    for (const { program, file } of units) await writeUnit(`${folder}/${file}`, padded(program.fence))
    await writeSurroundings(folder, readable)
    const diagnostics = await diagnosticsIn(folder, units)
    for (const unit of units) {
      const texts = wrong.get(unit.program) ?? []
      wrong.set(unit.program, [...texts, ...failuresOf(unit, diagnostics)])
    }
    return wrong
  })
}

/** What keeps a block from being read at all. */
function misspelt(fence: Fence): readonly string[] {
  try {
    marksOf(syntaxOf(fence.text))
    return []
  } catch (error) {
    return [`${placeOf(fence)}: ${(error as Error).message}`]
  }
}

/** What the page says is not run is compiled where it uses the library, and everything that it imports is here. */
export function canCompile({ text, reason }: Fence): boolean {
  if (reason === undefined) return true
  const names = importsIn(text)
  const isOurs = (name: string): boolean => name === './db.ts' || /^holdfast(?:\/|$)/.test(name)
  return names.some(isOurs) && names.every((name) => isOurs(name) || isHere(name))
}

function isHere(name: string): boolean {
  if (name.startsWith('.')) return name === './tables.ts' || name === './generated/client.ts'
  if (isBuiltin(name)) return true
  const [scope = '', second = ''] = name.split('/')
  return existsSync(new URL(`node_modules/${scope.startsWith('@') ? `${scope}/${second}` : scope}`, root))
}

function unitsOf(program: Program): readonly Unit[] {
  const { fence, targets } = program
  const own = `${fence.page.replaceAll(/\W/g, '_')}_${fence.line}.ts`
  if (targets.length === 0) return [{ program, file: `alone/${own}`, on: '' }]
  return targets.map((target) => {
    const name = fence.words.includes('db') ? 'db.ts' : fence.words.includes('tables') ? 'tables.ts' : own
    return { program, file: `${folderOf(target)}/${name}`, on: ` (on ${titleOf(target)})` }
  })
}

/** What programs import: the files of the page that shows them. */
async function writeSurroundings(folder: string, programs: readonly Program[]): Promise<void> {
  const tables = await tablesFence()
  const targets = new Map(programs.flatMap((one) => one.targets).map((target) => [folderOf(target), target]))
  for (const [name, target] of targets) {
    await writeUnit(`${folder}/${name}/db.ts`, padded(await dbFence(target)))
    if (tables !== undefined) await writeUnit(`${folder}/${name}/tables.ts`, padded(tables))
    await writeUnit(`${folder}/${name}/generated/client.ts`, prismaClient(target))
  }
}

function folderOf({ engine, isKysely }: Target): string {
  return isKysely ? `kysely-${engine}` : engine
}

async function writeUnit(path: string, text: string): Promise<void> {
  await mkdir(path.slice(0, path.lastIndexOf('/')), { recursive: true })
  await writeFile(path, text)
}

async function diagnosticsIn(folder: string, units: readonly Unit[]): Promise<readonly Diagnostic[]> {
  if (units.length === 0) return []
  const config = {
    extends: '../../tsconfig.json',
    compilerOptions: {
      noUnusedLocals: false,
      noUnusedParameters: false,
      paths: { holdfast: ['../../src/index.ts'], 'holdfast/*': ['../../src/entries/*.ts'] },
    },
    files: units.map(({ file }) => file),
  }
  await writeFile(`${folder}/tsconfig.json`, JSON.stringify(config))
  return diagnosticsOf(await outputOf([tsc, '-p', folder, '--pretty', 'false'], folder))
}

async function outputOf(args: readonly string[], cwd: string): Promise<string> {
  try {
    return (await run(process.execPath, [...args], { cwd, maxBuffer: 1e8 })).stdout
  } catch (error) {
    // it ends with an error when it has something to say
    if (error instanceof Error && 'stdout' in error && error.stdout !== '') return String(error.stdout)
    throw error
  }
}

/** Throws when the compiler speaks of no file: then it has not looked at the programs. */
function diagnosticsOf(output: string): readonly Diagnostic[] {
  const lines = output.split('\n').filter((line) => /\berror TS\d+: /.test(line))
  return lines.map((text) => {
    const [, file, line, code = '', message = ''] =
      /^(\S+)\((\d+),\d+\): error (TS\d+): (.*)$/.exec(text) ?? []
    if (file === undefined) throw new Error(text)
    return { file, line: Number(line), code, message }
  })
}

function failuresOf({ program: { fence }, file, on }: Unit, all: readonly Diagnostic[]): readonly string[] {
  const tell = (failure: Failure): string => failureText(fence, failure)
  const marks = marksOf(syntaxOf(fence.text)).filter((mark) => mark.kind === 'refused')
  const left = all.filter((one) => one.file === file)
  const missing = marks.flatMap((mark) => {
    const line = fence.line + mark.line
    const here = left.filter((one) => one.line === line)
    const found = here.find(({ code, message }) => code === mark.code && message.startsWith(mark.message))
    if (found !== undefined) left.splice(left.indexOf(found), 1)
    if (found !== undefined) return []
    const received = here.map(({ code, message }) => `${code}: ${message}`).join('; ') || 'it compiles'
    const expected = `${mark.code}: ${mark.message}`
    return [tell({ line: mark.line, what: `the compiler says something else${on}`, expected, received })]
  })
  const wrong = left.map(({ line, code, message }) =>
    tell({ line: line - fence.line, what: `does not compile${on}: ${code}: ${message}` }),
  )
  return [...missing, ...wrong]
}
