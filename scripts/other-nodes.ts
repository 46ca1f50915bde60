import { fileURLToPath } from 'node:url'

import { messageOf } from '../test/engines/run-command.ts'
import { readWords } from './command-line.ts'
import { installNode } from './other-nodes/install.ts'
import { chosenReleases, type Release } from './other-nodes/release.ts'
import { runOn } from './other-nodes/run.ts'

/*
 * Runs what depends on Node with the others that Holdfast supports: `npm run test:nodes -- 22 24`, or without a number
 * all but the one that runs this.
 *
 * A Node that cannot be had is left out, and a line says why; it is a failure when HOLDFAST_REQUIRE_NODES names it.
 */

const project = fileURLToPath(new URL('../', import.meta.url))
const required = (process.env.HOLDFAST_REQUIRE_NODES ?? '').split(',')

interface Outcome {
  readonly isOk: boolean
  readonly line: string
}

async function tryOn(release: Release): Promise<Outcome> {
  const title = `Node ${release.version}`
  const began = performance.now()
  console.log(`\n-- ${title}`)
  try {
    const node = await installNode(release, project)
    const { isOk, told } = await runOn({ title, project, node })
    const took = `${Math.round((performance.now() - began) / 1000)} s`
    return { isOk, line: isOk ? `ok    ${title}, ${took}` : `FAIL  ${title}, ${took}\n${told}` }
  } catch (error) {
    const reason = messageOf(error)
    if (required.includes(String(release.major))) {
      return { isOk: false, line: `FAIL  ${title}: HOLDFAST_REQUIRE_NODES asks for it: ${reason}` }
    }
    return { isOk: true, line: `SKIP  ${title}: not run: ${reason.split('\n', 1).join('')}` }
  }
}

const outcomes: Outcome[] = []
const chosen = readWords(() => chosenReleases(process.argv.slice(2), process.versions.node))
for (const release of chosen) {
  outcomes.push(await tryOn(release))
}
console.log(`\n${outcomes.map(({ line }) => line).join('\n')}`)
if (outcomes.some(({ isOk }) => !isOk)) process.exitCode = 1
