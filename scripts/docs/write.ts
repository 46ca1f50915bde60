import { writeFile } from 'node:fs/promises'

import { project } from './place.ts'
import { generatePages } from './update.ts'

/* Writes the generated parts of README.md, CONTRIBUTING.md and docs/; with --check only says which are out of date. */
const isCheck = process.argv.includes('--check')
const drifted = (await generatePages(project)).filter(({ text, wanted }) => text !== wanted)

for (const { page, wanted } of drifted) {
  if (!isCheck) await writeFile(new URL(page, project), wanted)
  console.log(isCheck ? `${page} is not what the code says` : `${page} written`)
}
if (isCheck && drifted.length > 0) {
  console.error('Run npm run docs:write')
  process.exitCode = 1
}
