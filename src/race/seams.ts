import type { Seam } from './seam.ts'
import { betterSqlite3 } from './seams/better-sqlite3.ts'
import { kysely } from './seams/kysely.ts'
import { knex, sequelize } from './seams/lenders.ts'
import { mongodb } from './seams/mongodb.ts'
import { mysql2 } from './seams/mysql2.ts'
import { pg } from './seams/pg.ts'

/** The one list of what can be explored. */
export const seams: readonly Seam[] = [kysely, knex, sequelize, pg, mysql2, mongodb, betterSqlite3]
