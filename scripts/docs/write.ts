import { project } from './place.ts'
import { driftedPages, writePages } from './update.ts'

/* Writes the generated parts of README.md, CONTRIBUTING.md, llms.txt and docs/; with --check only says which are out of date. */
if (process.argv.includes('--check')) {
  const drifted = await driftedPages(project)
  for (const { page } of drifted) console.log(`${page} is not what the code says`)
  if (drifted.length > 0) {
    console.error('Run npm run docs:write')
    process.exitCode = 1
  }
} else {
  for (const page of await writePages(project)) console.log(`${page} written`)
}
