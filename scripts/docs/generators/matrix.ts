import { allServers, matrixAsMarkdown } from '../../../src/cli/matrix-table.ts'
import { readServer } from '../../../src/cli/server-name.ts'
import type { Generator } from '../place.ts'

/** Every category times every dialect, or the servers that are named, as in `matrix mysql@5.7 mysql`. */
export const matrix: Generator = (args) =>
  matrixAsMarkdown(args.length === 0 ? allServers() : args.map(readServer))
