import { loadDriver } from './drivers.ts'
import { meetingOf, type Meeting } from './meeting.ts'
import { runShift, type Outcomes, type Shift } from './shift.ts'

/*
 * A process of workers: `worker.ts <engine> <url> <workers>`.
 *
 * Says `ready` when it is connected, `here` when all its workers wait for those of the other processes, and `done`
 * after each shift that it is given. Ends when its parent lets go of it.
 */

export type FromParent = { readonly shift: Shift } | 'go'

export type FromWorker =
  | 'ready'
  | 'here'
  | { readonly done: Outcomes }
  /** What went wrong, with its stack. */
  | { readonly failed: string }

const [engine = '', url = '', workers = ''] = process.argv.slice(2)
const say = (message: FromWorker): void => void process.send?.(message)
const driver = await loadDriver(engine)
const shop = await driver.connect(url, Number(workers))
let meeting: Meeting | undefined

process.on('message', (message: FromParent) => {
  if (message === 'go') {
    meeting?.open()
    return
  }
  const { meet } = (meeting = meetingOf(message.shift.tasks.length, () => say('here')))
  runShift({ shop, driver, meet }, message.shift).then(
    (done) => say({ done }),
    (error: unknown) => say({ failed: error instanceof Error ? String(error.stack) : String(error) }),
  )
})
process.on('disconnect', () => process.exit())
say('ready')
