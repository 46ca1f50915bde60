import { writeFile } from 'node:fs/promises'

import { listPublicNames, namesFile } from '../test/shape/public-names.ts'

/* Writes the list of public names for review; test/public-names.test.ts compares it. */
await writeFile(namesFile, await listPublicNames())
