import { board } from './board.ts'
import type { Command } from './command.ts'
import { deadlocks } from './deadlocks.ts'
import { doctor } from './doctor.ts'
import { explain } from './explain.ts'
import { inspect } from './inspect.ts'
import { matrix } from './matrix.ts'
import { order } from './order.ts'
import { race } from './race.ts'
import { schema } from './schema.ts'
import { verify } from './verify.ts'

/** The one list of commands: the program, its `--help` and the documentation read it. */
export const commands: readonly Command[] = [
  verify,
  doctor,
  explain,
  inspect,
  deadlocks,
  board,
  matrix,
  schema,
  race,
  order,
]
