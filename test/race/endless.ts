import { fill, mysqlShop, pgShop } from './stage.ts'

/* What is ended by a signal: one holds a row for ever, and another one waits for it. */

const url = process.env.RACE_URL ?? ''
const shop = await (url.startsWith('postgres') ? pgShop(url) : mysqlShop(url))
const hold = (isEndless: boolean) => (): Promise<unknown> =>
  shop.transaction(async (run) => {
    await run('UPDATE item SET n = n + 1 WHERE id = 1')
    if (isEndless) await new Promise(() => {})
  })

const options = {
  db: shop.db,
  reset: () => fill(shop, { 1: 0 }),
  actors: { a: hold(true), b: hold(false) },
  patienceMs: 100,
  hangMs: 3_600_000,
}

export default options
export const { close } = shop
