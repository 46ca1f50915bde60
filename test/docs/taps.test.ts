import { describe, expect, test } from 'vitest'

import { describeEngines } from '../engines/use.ts'
import { wrongIn } from './sample.ts'
import type { EngineName } from './words.ts'

/** A program that locks a row, and what it is said to send. */
function locking(engine: string, sends: string): string {
  return `~~~ts ${engine}
import { locks } from './db.ts'
await locks.transaction((tx) => locks.rows(tx, { table: 'account', key: { id: 1 } }))
~~~

~~~${engine === 'mongodb' ? 'json mongodb' : `sql ${engine}`}
${sends}
~~~
`
}

describe('what a program sends is heard, and is compared with the page', () => {
  describeEngines(({ name }) => {
    const engine = name as EngineName
    const isDocuments = engine === 'mongodb'
    const dots = isDocuments ? '...' : '-- ...'
    const end = isDocuments ? '{ "commitTransaction": 1 }' : 'COMMIT;'

    test('the end of a transaction', async () => {
      expect(await wrongIn(locking(name, [dots, end, dots].join('\n')), engine)).toBe('')
    })

    test('and nothing that was not sent', async () => {
      const other = isDocuments ? '{ "commitTransaction": 2 }' : 'COMMIT WORK;'
      const wrong = await wrongIn(locking(name, [dots, other, dots].join('\n')), engine)
      expect(wrong).toContain('docs/sample.md:6: this was not sent')
      expect(wrong).toContain(isDocuments ? 'commitTransaction' : 'COMMIT;')
    })

    test('and nothing that is left out', async () => {
      expect(await wrongIn(locking(name, end), engine)).toContain('docs/sample.md:6: ')
    })
  })
})

describe('a connection that a program keeps', () => {
  describeEngines(
    () => {
      test('is told', { timeout: 600_000 }, async () => {
        const wrong = await wrongIn(
          "~~~ts postgres\nimport { db } from './db.ts'\nawait db.connect()\n~~~",
          'postgres',
        )
        expect(wrong).toContain('docs/sample.md:1: Error: it does not let go of its connections')
      })
    },
    { only: ['postgres'] },
  )
})
