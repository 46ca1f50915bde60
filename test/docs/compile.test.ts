import { beforeAll, describe, expect, test } from 'vitest'

import { compile } from './compile.ts'
import { planFor } from './sample.ts'

const refused = "~~~ts\nconst n: number = 'x' // error TS2322: Type 'string' is not assignable\n~~~"

/** Pages, and what is to be told about each. They are compiled together, as all pages are. */
const samples = {
  'what it says': [refused, /^$/],
  'what it says below': [refused.replace(' //', '\n//'), /^$/],
  'another text': [refused.replace('not assignable', 'not given'), /:2: the compiler says something else/],
  'another number': [refused.replace('TS2322', 'TS2345'), /:2: the compiler says something else/],
  'a line that compiles': [refused.replace("'x'", '1'), /:2: the compiler says something else/],
  'an error that it does not say': ['~~~ts\n\nconst n: number = "x"\n~~~', /:3: does not compile: TS2322/],
  'text that is no program': ['~~~ts\nconst = 1\n~~~', /:1: line 1 of the block: /],
  'a package that is not there': ["~~~ts\nimport 'left-pad'\n~~~", /:2: does not compile/],
  'such a package, and a reason': ["*Not run: it has no end.*\n\n~~~ts\nimport 'left-pad'\n~~~", /^$/],
  'an error of ours, and a reason': [
    "*Not run: it has no end.*\n\n~~~ts\nimport { emits } from 'holdfast'\n~~~",
    /:4: does not compile/,
  ],
  'an excerpt of others, and a reason': ['*Not run: it is theirs.*\n\n~~~ts\nprisma.x()\n~~~', /^$/],
  'a wait that SQLite has not': [skipping('sqlite'), /:3: does not compile \(on sqlite\)/],
  'a wait that PostgreSQL has': [skipping('postgres'), /^$/],
} satisfies Record<string, readonly [string, RegExp]>

function skipping(engine: string): string {
  return `~~~ts ${engine}
import { locks } from './db.ts'
await locks.transaction((tx) => locks.rows(tx, { table: 'account', key: { id: 1 } }, { wait: 'skip' }))
~~~`
}

describe('the compiler is asked about a page with', () => {
  const told = new Map<string, string>()

  beforeAll(async () => {
    const programs = Object.entries(samples).flatMap(([title, [markdown]], index) =>
      planFor(markdown, `docs/sample-${index}.md`).programs.map((program) => ({ title, program })),
    )
    const compiled = await compile(programs.map(({ program }) => program))
    for (const { title, program } of programs) told.set(title, compiled.get(program)?.join('\n') ?? 'nothing')
  }, 600_000)

  test.each(Object.entries(samples))('%s', (title, [, message]) => {
    expect(told.get(title)).toMatch(message)
  })
})
