import { describeOrmLaws } from './describe-orm-laws.ts'
import { drizzleWay } from './drizzle-way.ts'

describeOrmLaws(drizzleWay)
