import book from './book.ts'
import { kyselyOnSqlite } from './stage.ts'

/* What `holdfast race` is given by somebody who has misspelled a table. */

const shop = await kyselyOnSqlite()

export default { ...book, db: shop.db, reset: () => shop.run('DELETE FROM shelf') }

export const close = shop.close
