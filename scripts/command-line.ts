import { messageOf } from '../test/engines/run-command.ts'

/** What `read` makes of the command line. Where it does not understand it, one line says why, and the program ends. */
export function readWords<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    console.error(messageOf(error))
    process.exit(1)
  }
}
