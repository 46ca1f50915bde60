import { adapterMatrix } from './generators/adapter-matrix.ts'
import { adapters } from './generators/adapters.ts'
import { api } from './generators/api.ts'
import { cli } from './generators/cli.ts'
import { dialect } from './generators/dialect.ts'
import { differences } from './generators/differences.ts'
import { errors } from './generators/errors.ts'
import { files } from './generators/files.ts'
import { matrix } from './generators/matrix.ts'
import { pages } from './generators/pages.ts'
import { speed } from './generators/speed.ts'
import { verified } from './generators/verified.ts'
import type { Generator } from './place.ts'

/** The one list of what a page can ask for. */
export const generators: Readonly<Record<string, Generator>> = {
  matrix,
  differences,
  dialect,
  errors,
  cli,
  adapters,
  'adapter-matrix': adapterMatrix,
  pages,
  files,
  api,
  speed,
  verified,
}
