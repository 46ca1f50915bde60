import { drizzle } from './drizzle.ts'
import { knex } from './knex.ts'
import { mikroOrm } from './mikro-orm.ts'
import { prismaOrm } from './prisma.ts'
import { sequelizeOrm } from './sequelize.ts'
import { typeorm } from './typeorm.ts'
import type { Orm } from './stage.ts'

/** The ORMs that the specs run through. */
export const orms: readonly Orm[] = [drizzle, knex, typeorm, sequelizeOrm, prismaOrm, mikroOrm]
