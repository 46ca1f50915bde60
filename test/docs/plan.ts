import { placeOf, type Fence, type Page } from './page.ts'
import { canRunShell, checkShell } from './shell.ts'
import { importsIn } from './syntax.ts'
import { enginesIn, knownWords, targetsOf, unknownWord, type EngineName, type Target } from './words.ts'

/** A TypeScript block, and what stands behind it. */
export interface Program {
  readonly fence: Fence
  /** Where it runs. None: it needs no database of ours, and runs once. */
  readonly targets: readonly Target[]
  /** Whether it takes `locks` from `./db.ts`. */
  readonly usesDb: boolean
  /** What the page says that it prints. */
  readonly prints?: Fence
  /** What the page says that it sends. */
  readonly sends: readonly Fence[]
  /** The blocks above it that make tables. */
  readonly setUp: readonly Fence[]
}

/** A block of commands for a shell, and what the page says that they print. */
export interface Shell {
  readonly fence: Fence
  readonly prints?: Fence
}

export interface Plan {
  readonly programs: readonly Program[]
  /** Blocks that make tables: each is run by itself as well, since no program may come after it. */
  readonly setUps: readonly Fence[]
  readonly shells: readonly Shell[]
  /** Blocks that nothing runs or checks, and for which the page gives no reason. One line each, with the place. */
  readonly problems: readonly string[]
}

type Draft = { -readonly [K in keyof Plan]: Plan[K][number][] }

/** What is to be done about every block of a page. */
export function planOf({ fences }: Page): Plan {
  const plan: Draft = { programs: [], setUps: [], shells: [], problems: [] }
  for (const fence of fences) {
    if (fence.isGenerated && !fence.words.includes('example')) continue
    const problem = problemOf(fence) ?? place(fence, plan)
    if (problem !== undefined) plan.problems.push(`${placeOf(fence)}: ${problem}`)
  }
  return plan
}

function problemOf(fence: Fence): string | undefined {
  const word = unknownWord(fence)
  if (word === undefined) return undefined
  const known = knownWords(fence.language)
  return `\`${fence.language} ${word}\`: the words are ${known.length === 0 ? 'none' : known.join(', ')}`
}

/** Puts a block where it belongs. Gives a problem when it belongs nowhere. */
function place(fence: Fence, plan: Draft): string | undefined {
  const { language, words, reason } = fence
  if (language === 'ts') return void plan.programs.push(programOf(fence, plan))
  if (words.includes('setup')) return void plan.setUps.push(fence)
  if (reason !== undefined) return placeTold(fence, plan)
  if (language === 'sh') {
    plan.shells.push({ fence })
    return checkShell(fence)
  }
  if (language === 'text') return placePrinted(fence, plan)
  if (language === 'sql' || (language === 'json' && words.length > 0)) return placeSent(fence, plan)
  return `nothing runs \`${language}\`: say why, in a line right before it: *Not run: <reason>.*`
}

/** A block that the page says is not run. SQL Server's statements are compared all the same where there is one. */
function placeTold(fence: Fence, plan: Draft): undefined {
  const isSent = fence.language === 'sql' && enginesIn(fence).includes('mssql')
  if (isSent) placeSent(fence, plan)
}

function programOf(fence: Fence, { setUps }: Draft): Program {
  const usesDb = importsIn(fence.text).includes('./db.ts')
  const isFile = fence.words.includes('db') || fence.words.includes('tables')
  const hasTargets = usesDb || isFile || fence.words.some((word) => word !== 'example')
  return { fence, usesDb, targets: hasTargets ? targetsOf(fence) : [], sends: [], setUp: [...setUps] }
}

/** The output belongs to the program or the commands right above, in the same section. */
function placePrinted(fence: Fence, plan: Draft): string | undefined {
  const from = (one: Program | Shell | undefined): boolean =>
    one?.fence.section === fence.section && one.prints === undefined && one.fence.reason === undefined
  const [program, shell] = [plan.programs.at(-1), plan.shells.at(-1)]
  const isProgramLast = (program?.fence.line ?? 0) > (shell?.fence.line ?? 0)
  if (isProgramLast && program !== undefined && from(program)) {
    plan.programs[plan.programs.length - 1] = { ...program, prints: fence }
    return undefined
  }
  if (!isProgramLast && shell !== undefined && from(shell) && canRunShell(shell.fence)) {
    plan.shells[plan.shells.length - 1] = { ...shell, prints: fence }
    return undefined
  }
  return 'no program and no command above prints this: say why, right before it: *Not run: <reason>.*'
}

/** The statements belong to the program above, which must run where they are said to be sent. */
function placeSent(fence: Fence, plan: Draft): string | undefined {
  const program = plan.programs.at(-1)
  if (program === undefined) return 'no program above sends this; tables are made by `sql setup`'
  const runsOn = new Set<EngineName>(program.targets.map(({ engine }) => engine))
  const other = enginesIn(fence).find((engine) => !runsOn.has(engine))
  if (other !== undefined) return `the program at line ${program.fence.line} does not run on ${other}`
  if (runsOn.size === 0) return `the program at line ${program.fence.line} runs on no engine of ours`
  if (enginesIn(fence).includes('mssql') && fence.reason === undefined)
    return 'SQL Server is not here: say so, right before it: *Not run: <reason>.*'
  plan.programs[plan.programs.length - 1] = { ...program, sends: [...program.sends, fence] }
  return undefined
}
