import { fill, kyselyOnSqlite } from './stage.ts'

/* What `holdfast race` is given. */

const shop = await kyselyOnSqlite()

async function buy(): Promise<void> {
  const [row] = await shop.run('SELECT n FROM item WHERE id = 1')
  if (Number(row?.n) > 0) await shop.run('UPDATE item SET n = n - 1 WHERE id = 1')
}

export default {
  db: shop.db,
  reset: () => fill(shop, { 1: 1 }),
  actors: { a: buy, b: buy },
  invariant: async () => {
    const [row] = await shop.run('SELECT n FROM item WHERE id = 1')
    if (Number(row?.n) < 0) throw new Error('sold twice')
  },
}

export const close = shop.close
