import { dialectThrough, sessions, type ForgeDialectName } from '../../src/entries/forge.ts'
import { openForge } from './forge.ts'
import { runRaw } from './prisma-way.ts'
import type { OrmWay } from './way.ts'

export const forgeWay: OrmWay = {
  name: 'forge',
  package: '@prisma/client',
  engines: ['postgres', 'mysql', 'mariadb', 'sqlite'],
  dialectOf: (engine) => dialectThrough(engine as ForgeDialectName),
  connect: async (engine, url, size) => {
    const client = openForge(engine, url, size)
    return {
      sessions: sessions(client, { dialect: engine as ForgeDialectName }),
      size: engine === 'sqlite' ? 1 : size,
      run: runRaw,
      close: () => client.$disconnect(),
    }
  },
}
