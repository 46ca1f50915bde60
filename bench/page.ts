import { cellsOf, goalText, isMet } from './figure-text.ts'
import type { Machine } from './machine.ts'
import type { Result } from './result.ts'
import type { Section } from './scenario.ts'

/** All results as one Markdown page beside their charts. */
export function pageOf(results: readonly Result[]): string {
  return [
    '# Measured side by side',
    '',
    'Written by `npm run bench`; [how it is measured](../README.md). A figure is the median of rounds in which all',
    'contestants take turns; the whiskers and the column of quartiles say between what the middle half of the rounds',
    'was. Compare figures of one table: those of two tables, or of two machines, say nothing about each other.',
    '',
    ...goalLines(results),
    ...results.flatMap(resultLines),
  ].join('\n')
}

function goalLines(results: readonly Result[]): readonly string[] {
  const goals = results.flatMap(({ id, sections }) =>
    sections.flatMap((section) => section.goals.map((goal) => ({ id, goal }))),
  )
  if (goals.length === 0) return []
  const met = goals.filter(({ goal }) => isMet(goal)).length
  return [
    '## Goals',
    '',
    `${met} of ${goals.length} are met.`,
    '',
    ...tableLines([
      ['scenario', 'goal', 'reached', ''],
      ...goals.map(({ id, goal }) => [
        `[${id}](#${id})`,
        goal.what,
        goalText(goal),
        isMet(goal) ? 'met' : '**not met**',
      ]),
    ]),
    '',
  ]
}

function resultLines({ id, title, about, on, tookSeconds, machine, sections }: Result): readonly string[] {
  return [
    `## ${id}`,
    '',
    `**${title}**`,
    '',
    about.trim(),
    '',
    `${machineText(machine)} Measured on ${on}, in ${Math.round(tookSeconds)} s.`,
    '',
    ...sections.flatMap((section, index) => sectionLines(section, `${id}-${index + 1}.svg`)),
  ]
}

function sectionLines(section: Section, chart: string): readonly string[] {
  const { title, goals, notes = [] } = section
  return [
    `### ${title}`,
    '',
    `![${title.replaceAll(/[[\]]/g, '')}](${chart})`,
    '',
    ...tableLines(cellsOf(section)),
    '',
    ...listLines(
      goals.map((goal) => `${isMet(goal) ? 'met' : '**not met**'}: ${goal.what}: ${goalText(goal)}`),
    ),
    ...listLines(notes),
  ]
}

function machineText({
  cores,
  processor,
  memoryGb,
  system,
  node,
  loadAtStart,
  engines,
  peers,
}: Machine): string {
  const versions = [...Object.entries(engines), ...Object.entries(peers)].map(
    ([name, version]) => `${name} ${version}`,
  )
  return (
    `${cores} cores (${processor}), ${memoryGb} GB, ${system}, Node ${node}, ${versions.join(', ')}; ` +
    `load average at the start ${loadAtStart}.`
  )
}

function tableLines([head = [], ...rows]: readonly (readonly string[])[]): readonly string[] {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)]
}

function listLines(items: readonly string[]): readonly string[] {
  return items.length === 0 ? [] : [...items.map((item) => `- ${item}`), '']
}
