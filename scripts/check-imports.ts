import { cycles, directionProblems } from '../test/shape/imports.ts'
import { readSources } from '../test/shape/source.ts'

/* Says which files of src import against the direction, or in a circle. */
const sources = await readSources()
const problems = [...directionProblems(sources), ...cycles(sources)]
for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exitCode = 1
else console.log(`${sources.length} files import in the right direction`)
