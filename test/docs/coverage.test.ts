import { describe, expect, test } from 'vitest'

import { planFor } from './sample.ts'

describe('a page', () => {
  test('with a block that nothing runs fails, and names its place', () => {
    expect(planFor('~~~yaml\na: 1\n~~~').problems).toEqual([
      expect.stringMatching(/^docs\/sample\.md:1: nothing runs `yaml`: say why/),
    ])
  })

  test.each([
    ['a language', '*Not run: it is a file of another program.*\n\n~~~yaml\na: 1\n~~~'],
    ['a reason of two lines', '*Not run: it is a file\nof another program.*\n~~~yaml\na: 1\n~~~'],
    ['output', 'Text.\n\n*Not run: it is an excerpt.*\n\n~~~text\n1\n~~~'],
  ])('may leave out what it gives a reason for: %s', (_, markdown) => {
    expect(planFor(markdown).problems).toEqual([])
  })

  test.each([
    ['a reason that is not right before it', '*Not run: no.*\n\nText.\n\n~~~yaml\na: 1\n~~~'],
    ['a reason in a comment', '<!-- *Not run: no.* -->\n~~~yaml\na: 1\n~~~'],
    ['no language', '~~~\n1\n~~~'],
    ['an unknown word', '~~~ts oracle\nconst a = 1\n~~~'],
    ['an unknown word in spite of a reason', '*Not run: no.*\n\n~~~sql postgress\nSELECT 1;\n~~~'],
    ['output of nothing', '~~~text\n1\n~~~'],
    ['output of a program of another section', '~~~ts\nconst a = 1\n~~~\n\n## Next\n\n~~~text\n1\n~~~'],
    ['output of a program that is not run', '*Not run: no.*\n~~~ts\nconst a = 1\n~~~\n~~~text\n1\n~~~'],
    [
      'output of a command that needs a server',
      '~~~sh\nnpx holdfast doctor postgres://x/y\n~~~\n~~~text\n1\n~~~',
    ],
    ['statements that no program sends', '~~~sql postgres\nSELECT 1;\n~~~'],
    [
      'statements of an engine on which it does not run',
      '~~~ts sqlite\n1\n~~~\n~~~sql postgres\nSELECT 1;\n~~~',
    ],
    [
      'statements of SQL Server without a reason',
      "~~~ts\nimport './db.ts'\n~~~\n~~~sql mssql\nSELECT 1;\n~~~",
    ],
    ['a block inside of a list', '- one\n\n  ~~~yaml\n  a: 1\n  ~~~'],
    ['a command that there is not', '~~~sh\nnpx holdfast verfy\n~~~'],
    ['an option that there is not', '~~~sh\nholdfast verify --laws R1\n~~~'],
    ['a package that nothing here uses', '~~~sh\nnpm install holdfast left-pad\n~~~'],
    ['a script that there is not', '~~~sh\nnpm run verfy\n~~~'],
    ['a program that nobody knows', '~~~sh\nmake install\n~~~'],
  ])('fails with %s', (_, markdown) => {
    expect(planFor(markdown).problems).toHaveLength(1)
  })

  test('knows its commands', () => {
    const commands = [
      'npx holdfast verify --law R1 sqlite:app.db',
      'npm install holdfast pg # the driver',
      'npm ci && npm test',
    ]
    expect(planFor(`~~~sh\n${commands.join('\n')}\n~~~`).problems).toEqual([])
  })

  test('whose block has no end is refused', () => {
    expect(() => planFor('~~~ts\nconst a = 1\n')).toThrow('docs/sample.md:1: this block of code has no end')
  })

  test('leaves what is generated to the program that writes it', () => {
    const markdown = '<!-- generated: matrix -->\n~~~yaml\na: 1\n~~~\n<!-- /generated -->\n~~~yaml\nb: 1\n~~~'
    expect(planFor(markdown).problems).toEqual([expect.stringMatching(/^docs\/sample\.md:6:/)])
  })
})
