import { laws } from '../../src/conformance/laws.ts'
import type { DialectName } from '../../src/registry.ts'
import { describeLaws } from '../conformance/describe-laws.ts'
import { drizzleWay } from './drizzle-way.ts'
import { knexWay } from './knex-way.ts'
import { prismaWay } from './prisma-way.ts'
import { typeormWay } from './typeorm-way.ts'
import type { OrmWay } from './way.ts'

const ways: readonly OrmWay[] = [drizzleWay, knexWay, typeormWay, prismaWay]

/** Every law, through every ORM: its transactions are Holdfast's, and its statements are the application's. */
describeLaws(laws, {
  engines: [...new Set(ways.flatMap(({ engines }) => engines))],
  adaptersOf: (engine) => ways.filter(({ engines }) => engines.includes(engine)).map(({ name }) => name),
  subjectOf: (engine, adapter, url) => {
    const way = ways.find(({ name }) => name === adapter)
    if (way === undefined) throw new Error(`${adapter} is none of ${ways.map(({ name }) => name).join(', ')}`)
    return {
      title: `${engine} through ${adapter}`,
      adapter,
      dialects: [engine as DialectName],
      connect: (size) => way.connect(engine, url, size),
    }
  },
})
