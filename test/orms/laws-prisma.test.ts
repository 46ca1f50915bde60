import { describeOrmLaws } from './describe-orm-laws.ts'
import { prismaWay } from './prisma-way.ts'

describeOrmLaws(prismaWay)
