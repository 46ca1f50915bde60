import { describeOrmLaws } from './describe-orm-laws.ts'
import { sequelizeWay } from './sequelize-way.ts'

describeOrmLaws(sequelizeWay)
