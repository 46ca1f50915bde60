import book from './book.ts'
import { kyselyOnSqlite } from './stage.ts'

/* What `holdfast race` is given by somebody who has misspelled a table where nobody looks. */

const shop = await kyselyOnSqlite()
const buy = (): Promise<unknown> => shop.run('UPDATE shelf SET n = n - 1')

export default { ...book, db: shop.db, actors: { a: buy, b: buy }, reset: () => {} }

export const close = shop.close
