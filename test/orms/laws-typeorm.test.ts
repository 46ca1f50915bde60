import { describeOrmLaws } from './describe-orm-laws.ts'
import { typeormWay } from './typeorm-way.ts'

describeOrmLaws(typeormWay)
