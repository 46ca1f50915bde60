import { expect, test } from 'vitest'

import { describeEngines } from '../engines/use.ts'
import { wrongIn } from './sample.ts'

const transfer = `# Title

~~~ts sqlite
import { locks } from './db.ts'

const seen = await locks.transaction(async (tx) => {
  const [row] = await locks.rows<{ balance: number }>(tx, { table: 'account', key: { id: 1 } })
  return row?.balance
})
seen // => 100
console.log('balance', seen) // => balance 100
await locks.withLock('', async () => 1) // throws LockUsageError: empty
~~~

prints

~~~text
balance 100
~~~

~~~sql sqlite
BEGIN IMMEDIATE;
SELECT * FROM "account"
  WHERE "id" = ?;
COMMIT;
~~~
`

describeEngines(
  () => {
    test('a program that is as the page says passes', async () => {
      expect(await wrongIn(transfer, 'sqlite')).toBe('')
    })

    test.each([
      ['a changed value', 'seen // => 100', 'seen // => 101', ':10: the value is another one'],
      [
        'a changed line that is printed',
        '// => balance 100',
        '// => balance 101',
        ':11: it prints something else',
      ],
      [
        'another class',
        'throws LockUsageError: empty',
        'throws LockTimeoutError',
        ':12: it throws another error',
      ],
      [
        'a changed output',
        '~~~text\nbalance 100',
        '~~~text\nbalance 101',
        ':17: the program prints something else',
      ],
      ['a changed statement', 'BEGIN IMMEDIATE', 'BEGIN', ':21: this was not sent'],
      ['a removed statement', 'COMMIT;\n', '', ':21: more was sent'],
      ['an added statement', 'COMMIT;\n', 'COMMIT;\nSELECT 1;\n', ':21: this was not sent'],
      [
        'statements in another order',
        '  WHERE "id" = ?;\nCOMMIT;',
        'WHERE 1;\nCOMMIT;',
        ':21: this was not sent',
      ],
    ])('a program with %s fails', async (_, from, to, message) => {
      expect(transfer).toContain(from)
      expect(await wrongIn(transfer.replace(from, to), 'sqlite')).toContain(`docs/sample.md${message}`)
    })

    test.each([
      ['for none', 'COMMIT;\n', '-- ...\nCOMMIT;\n'],
      ['for several', 'SELECT * FROM "account"\n  WHERE "id" = ?;\nCOMMIT;\n', '-- ...\n'],
      ['for a part of a statement', 'WHERE "id" = ?', 'WHERE ...'],
    ])('dots stand %s', async (_, from, to) => {
      expect(transfer).toContain(from)
      expect(await wrongIn(transfer.replace(from, to), 'sqlite')).toBe('')
    })

    test('what a page sets up is there for the programs below, and takes the place of the sample', async () => {
      const markdown = `~~~sql setup sqlite
CREATE TABLE account (id INTEGER PRIMARY KEY, note TEXT);
INSERT INTO account VALUES (1, 'a;b');
~~~

~~~ts sqlite
import { db } from './db.ts'
db.prepare('SELECT * FROM account').all() // => [{ id: 1, note: 'a;b' }]
~~~
`
      expect(await wrongIn(markdown, 'sqlite')).toBe('')
      const dropped = markdown.replace('sql setup sqlite', 'sql setup postgres')
      expect(await wrongIn(dropped, 'sqlite')).toContain('the value is another one')
    })
  },
  { only: ['sqlite'] },
)
