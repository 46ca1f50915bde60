import fc from 'fast-check'
import { expect, test } from 'vitest'

import { describeEngines } from '../engines/use.ts'
import { textServers, type TextServer } from './text-servers.ts'

const pieces = [
  ';',
  ';',
  ' ',
  ' ',
  '\n',
  "'",
  '"',
  '--',
  '-- ',
  '/*',
  '*/',
  '/**/',
  '(',
  ')',
  'x',
  'select 1',
  'select 1',
  "select ';'",
  'commit',
  'commit',
  'rollback',
  'begin',
  'select',
  '1',
  // letters for most databases, blanks for JavaScript and for some
  '\u00a0',
  '\u200b',
  '\u2028',
  '\ufeff',
  'é',
  '\x01',
  '\x7f',
]
const gaps = [' ', ' ', ' ', '\n', '/**/', "/* ' */", '-- ;\n', '-- "\n', '/* ; commit ; */']
const statements = [
  'select 1',
  "select ';commit'",
  'select 1 as "commit;"',
  "select ' -- ' , '/*'",
  "select ''''",
  'commit',
  'rollback',
  'begin',
  'savepoint x',
  'rollback to savepoint holdfast_mark',
  'select 1 as é',
  'select 1 as \u00a0',
  'commité',
  'écommit',
  '\u00a0commit',
  '\ufeffcommit',
  'rollback to\u00a0',
  '',
]

/** Some are made of anything, and most of those are errors; the others of whole statements, spelled in any way. */
function textsFor(server: TextServer): fc.Arbitrary<string> {
  const gap = fc.constantFrom(...gaps, ...server.gaps)
  const spelled = fc
    .constantFrom(...statements, ...server.statements)
    .chain((statement) =>
      fc.tuple(...statement.split(' ').map((word) => gap.map((blank) => blank + word)), gap),
    )
    .map((parts) => parts.join(''))
  const soup = fc.array(fc.constantFrom(...pieces, ...server.pieces), { maxLength: 12 })
  return fc.oneof(
    soup.map((parts) => parts.join('')),
    fc.array(spelled, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(';')),
  )
}

describeEngines(
  (context) => {
    test('every text that ends its transaction is known, and of those that succeed no other is refused', async () => {
      const server = await textServers[context.name]?.(context.engine.server.url)
      if (server === undefined) throw new Error('no server')
      const property = fc.asyncProperty(textsFor(server), async (text) => {
        const { isError, isThere } = await server.send(text)
        const fate = server.fateOf(text)
        const ends = typeof fate === 'object' ? fate.ends : undefined
        if (!isThere) expect(ends, 'it ends the transaction').toBeDefined()
        else if (!isError && ends !== undefined && server.isIdle?.(text, ends) !== true)
          expect(ends, 'it keeps the transaction').toBeUndefined()
      })
      try {
        await fc.assert(property, { numRuns: server.runs })
      } finally {
        await server.close()
      }
    })
  },
  { only: Object.keys(textServers) },
)
