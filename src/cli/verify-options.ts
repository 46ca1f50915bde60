import { features, isFeature } from '../conformance/feature.ts'
import type { Law } from '../conformance/law.ts'
import { laws } from '../conformance/laws.ts'
import { isReporterName, reporters, type ReporterName } from '../conformance/reporters/reporters.ts'
import { CliUsageError, type Call, type CommandOption } from './command.ts'

export const verifyOptions: Readonly<Record<string, CommandOption>> = {
  law: {
    type: 'string',
    multiple: true,
    value: '<id>',
    summary: 'Only this law, such as R1, or this chapter, such as R',
  },
  category: {
    type: 'string',
    multiple: true,
    value: '<name>',
    summary: `Only laws about this feature: ${features.join(', ')}`,
  },
  repeat: { type: 'string', value: '<n>', summary: 'Run each law this many times (default: 1)' },
  seed: {
    type: 'string',
    value: '<n>',
    summary: 'Make the same random choices as the run that reported this seed',
  },
  timeout: {
    type: 'string',
    value: '<ms>',
    summary: 'A law that takes longer counts as broken (default: 30000)',
  },
  bail: { type: 'boolean', summary: 'Stop at the first broken law' },
  reporter: {
    type: 'string',
    multiple: true,
    value: '<name[:file]>',
    summary: `${Object.keys(reporters).join(', ')}; with a file, the report is written there`,
  },
  'use-empty': {
    type: 'boolean',
    summary: 'Use the database in the address, which must be empty, instead of creating one',
  },
  env: {
    type: 'boolean',
    summary: 'Also verify the server in $DATABASE_URL, which is not used without this option',
  },
  list: { type: 'boolean', summary: 'List the laws without running them' },
}

/** What was asked for, checked. */
export interface VerifyRequest {
  readonly laws: readonly Law[]
  readonly repeat: number
  readonly seed: number | undefined
  readonly timeoutMs: number
  readonly bail: boolean
  readonly useEmpty: boolean
  readonly outputs: readonly ReportOutput[]
}

/** A report, and the file it is written to; on the screen without one. */
export interface ReportOutput {
  readonly reporter: ReporterName
  readonly file?: string
}

export function readVerifyOptions(call: Call): VerifyRequest {
  return {
    laws: chosenLaws(call.texts('law'), call.texts('category')),
    repeat: call.number('repeat') ?? 1,
    seed: call.number('seed', 0),
    timeoutMs: call.number('timeout') ?? 30_000,
    bail: call.flag('bail'),
    useEmpty: call.flag('use-empty'),
    outputs: outputsOf(call.texts('reporter')),
  }
}

function chosenLaws(ids: readonly string[], categories: readonly string[]): readonly Law[] {
  for (const id of ids) {
    if (!laws.some((law) => isNamedBy(law, id))) {
      throw new CliUsageError(`--law: there is no law ${JSON.stringify(id)}; --list shows them`)
    }
  }
  for (const category of categories) {
    if (!isFeature(category)) {
      throw new CliUsageError(`--category: ${JSON.stringify(category)} is not one of ${features.join(', ')}`)
    }
  }
  return laws.filter(
    (law) =>
      (ids.length === 0 || ids.some((id) => isNamedBy(law, id))) &&
      (categories.length === 0 || law.features.some((feature) => categories.includes(feature))),
  )
}

/** By its id, or by the letters of its chapter. */
function isNamedBy({ id }: Law, name: string): boolean {
  const [chapter] = /^\D+/.exec(id) ?? []
  return [id, chapter].some((own) => own?.toLowerCase() === name.toLowerCase())
}

function outputsOf(texts: readonly string[]): readonly ReportOutput[] {
  if (texts.length === 0) return [{ reporter: 'terminal' }]
  return texts.map((text) => {
    const [reporter = '', ...rest] = text.split(':')
    if (!isReporterName(reporter)) {
      const names = Object.keys(reporters).join(', ')
      throw new CliUsageError(`--reporter: ${JSON.stringify(reporter)} is not one of ${names}`)
    }
    const file = rest.join(':')
    return file === '' ? { reporter } : { reporter, file }
  })
}
