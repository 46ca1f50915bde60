import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'

import { program } from '../cli/terminal.ts'
import { programOf } from '../engines/program.ts'
import { describeEngines, until } from '../engines/use.ts'
import { mysqlShop, numberOf, pgShop } from './stage.ts'

const endless = (): Promise<string> => programOf(new URL('endless.ts', import.meta.url))
const ways: readonly (readonly [string, () => Promise<readonly string[]>, readonly unknown[]])[] = [
  ['holdfast race', async () => [await program(), 'race', await endless()], [130, null]],
  [
    'a program that calls explore',
    async () => [await programOf(new URL('endless-program.ts', import.meta.url))],
    [null, 'SIGINT'],
  ],
]

describeEngines(
  (context) => {
    test.each(ways)('Ctrl-C of %s leaves nothing on the server', async (_, command, ending) => {
      const { engine } = context
      const { url } = engine.server
      const shop = await (context.name === 'postgres' ? pgShop(url) : mysqlShop(url))
      const env = { ...process.env, RACE_URL: url }
      const child = spawn(process.execPath, await command(), { stdio: 'ignore', env })
      const exit = once(child, 'exit')
      const { inspect } = await inspectorOn(context.name, shop.db)
      await until(
        async () => (await inspect()).sessions.some(({ waits }) => waits !== undefined),
        'b that waits for a',
      )
      child.kill('SIGINT')
      expect(await exit).toEqual(ending)
      await until(async () => (await engine.leftovers()).length === 0, 'a server that holds nothing')
      expect(await numberOf(shop, 1)).toBeLessThan(2)
      await shop.close()
    })
  },
  { only: ['postgres', 'mysql', 'mariadb'] },
)

/** A look through a pool of the test's own. */
async function inspectorOn(engine: string, db: object) {
  if (engine === 'postgres') return (await import('../../src/entries/pg.ts')).createLocks(db as never)
  return (await import('../../src/entries/mysql2.ts')).createLocks(db as never)
}
