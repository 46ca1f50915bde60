import { describeOrmLaws } from './describe-orm-laws.ts'
import { knexWay } from './knex-way.ts'

describeOrmLaws(knexWay)
