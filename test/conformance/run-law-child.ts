import { unlocked } from '../../src/conformance/controls.ts'
import { openGround } from '../../src/conformance/ground.ts'
import { defineLaw } from '../../src/conformance/law.ts'
import { runLaw } from '../../src/conformance/run-law.ts'
import { openUrl } from '../../src/connect/open.ts'

/** Runs a law in whose first runs the process stops and the law breaks, and says what became of it. */
const [url = '', badRuns] = process.argv.slice(2)
let runs = 0
const law = defineLaw({
  id: 'X1',
  says: 'A process that stands still breaks no law.',
  features: ['retry'],
  trial: async (stage) => {
    runs += 1
    if (runs > Number(badRuns)) return
    process.send?.('stops')
    process.kill(process.pid, 'SIGSTOP')
    stage.expect(false, `broken in run ${runs}`)
  },
  control: unlocked,
})
const ground = await openGround({
  title: 'a process that stops',
  adapter: 'driver',
  dialects: ['sqlite'],
  connect: (size) => openUrl(url, size),
})
const { verdict, reason } = await runLaw(ground, law)
await ground.close()
process.send?.({ verdict, reason, runs }, () => process.disconnect())
