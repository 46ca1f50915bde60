import { describeOrmLaws } from '../orms/describe-orm-laws.ts'
import { postgresJsWay } from './postgres-js-way.ts'

describeOrmLaws(postgresJsWay)
