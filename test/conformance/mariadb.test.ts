import { describeOrmLaws } from '../orms/describe-orm-laws.ts'
import { mariadbWay } from './mariadb-way.ts'

describeOrmLaws(mariadbWay)
