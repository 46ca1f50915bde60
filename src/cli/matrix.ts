import { visibleJson } from '../conformance/reporters/visible.ts'
import { supportMatrix } from '../matrix.ts'
import { exitCodes, type Call, type Command } from './command.ts'
import { allServers, matrixAsMarkdown, matrixAsText } from './matrix-table.ts'
import { oneOfWords, readServer } from './server-name.ts'

/** Prints what each dialect makes of each category. */
export const matrix: Command = {
  name: 'matrix',
  parameters: '[dialect[@version]...]',
  summary: 'Show which locks each database has, for all dialects or those you name',
  options: {
    format: { type: 'string', value: '<text|json|markdown>', summary: 'The output format (default: text)' },
  },
  run: (call) => ({ text: `${show(call)}\n`, exitCode: exitCodes.ok }),
}

const legend = `
native: the database has this lock. stronger: it locks more than was asked. emulated: built from other means
that keep the exclusion. no: refused. The second word is what is locked. holdfast explain says why.`

function show({ positionals, text, terminal }: Call): string {
  const servers = positionals.length === 0 ? allServers() : positionals.map(readServer)
  switch (oneOfWords('format', text('format'), ['text', 'json', 'markdown'])) {
    case 'text':
      return `${matrixAsText(servers, terminal)}\n${legend}`
    case 'json':
      return visibleJson(supportMatrix(servers))
    case 'markdown':
      return matrixAsMarkdown(servers)
  }
}
