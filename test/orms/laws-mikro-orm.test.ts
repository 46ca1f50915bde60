import { describeOrmLaws } from './describe-orm-laws.ts'
import { mikroOrmWay } from './mikro-orm-way.ts'

describeOrmLaws(mikroOrmWay)
