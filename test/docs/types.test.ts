import { beforeAll, describe, expect, test } from 'vitest'

import { canCompile, compile } from './compile.ts'
import { placeOf, readPages } from './page.ts'
import { planOf } from './plan.ts'
import { planFor } from './sample.ts'

const refused = "~~~ts\nconst n: number = 'x' // error TS2322: Type 'string' is not assignable\n~~~"

/** Pages, and what is to be told about each. They are compiled together with all that there are, once. */
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

const sampled = Object.entries(samples).map(([title, [markdown, message]], index) => ({
  title,
  message,
  programs: planFor(markdown, `docs/sample-${index}.md`).programs,
}))
const pages = (await readPages()).map((page) => ({
  name: page.name,
  programs: planOf(page).programs.filter(({ fence }) => canCompile(fence)),
}))
let compiled: Awaited<ReturnType<typeof compile>> | undefined

beforeAll(async () => {
  compiled = await compile([...pages, ...sampled].flatMap(({ programs }) => programs))
}, 600_000)

describe('the compiler is asked about a page with', () => {
  test.each(sampled)('$title', ({ programs, message }) => {
    expect(programs.map((program) => compiled?.get(program)?.join('\n') ?? 'nothing').join('\n')).toMatch(
      message,
    )
  })
})

describe.each(pages.filter(({ programs }) => programs.length > 0))('$name', ({ programs }) => {
  test.each(programs.map((one) => [placeOf(one.fence), one] as const))(
    '%s compiles, but for what it says',
    (_, program) => {
      expect(compiled?.get(program)?.join('\n')).toBe('')
    },
  )
})
