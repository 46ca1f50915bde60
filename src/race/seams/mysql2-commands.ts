import { textOf as sqlOf, type Command as Sent } from '../../adapters/mysql2/command.ts'
import type { End } from '../actor.ts'
import type { Gate } from '../gate.ts'
import type { Answer } from '../seen.ts'
import { countIn } from './promised.ts'
import { replaced } from './replaced.ts'

/** What `mysql2` makes of each statement, of its preparation, and of a ping. */
export type Command = Pick<Sent, 'onResult' | 'sql' | 'query' | 'statement' | 'parameters' | 'once'> & {
  emit(event: 'error' | 'end', error?: Error): unknown
}

/** What is used of the class of the connections. */
interface Driver {
  addCommand(command: Command): Command
}

type Add = Driver['addCommand']

interface Watching {
  readonly watch: (connection: Driver) => void
  readonly putBack: () => void
}

/**
 * Sends what goes through connections when it is its turn.
 *
 * They are held back where the driver puts them into its queue, and in its class: beneath the line of `holdfast/mysql2`,
 * which knows by the moment of a call whose statement it is, and so has to have it at once. It is also the only place
 * that a statement which was prepared does not go round.
 */
export function watchCommands(gate: Gate): Watching {
  const putBack = new Map<Driver, () => void>()
  return {
    watch: (connection) => {
      const driver = classOf(connection)
      if (!putBack.has(driver))
        putBack.set(
          driver,
          replaced(driver, 'addCommand', (original) => held(original, gate)),
        )
    },
    putBack: () => putBack.forEach((put) => put()),
  }
}

/** Where the method is: on a class below, a second connection would find it replaced, and be held back twice. */
function classOf(connection: Driver): Driver {
  let driver = Object.getPrototypeOf(connection) as Driver
  while (!Object.hasOwn(driver, 'addCommand')) driver = Object.getPrototypeOf(driver) as Driver
  return driver
}

function held(original: Add, gate: Gate): Add {
  /** What is no statement, and was given behind one that is held back. */
  const behind = new WeakMap<object, Command[]>()
  return function addCommand(this: Driver, command) {
    const text = textOf(command)
    if (!gate.isHolding(this)) return original.call(this, command)
    if (text === undefined) {
      const others = behind.get(this)
      if (others === undefined) return original.call(this, command)
      others.push(command)
      return command
    }
    const followers: Command[] = []
    behind.set(this, followers)
    const follow = (): void => {
      if (behind.get(this) === followers) behind.delete(this)
      for (const follower of followers) original.call(this, follower)
    }
    gate.hold(this, {
      text,
      values: Array.isArray(command.parameters) ? command.parameters : undefined,
      send: (end) => {
        watchEnd(command, text, end)
        original.call(this, command)
        follow()
      },
      refuse: (why) => {
        refuse(command, why)
        follow()
      },
    })
    return command
  }
}

/** To prepare a statement reads nothing, but waits where the statement itself would wait for a table. */
function textOf(command: Command): string | undefined {
  const text = sqlOf(command as Sent)
  return text !== undefined && command.query !== undefined ? `PREPARE ${text}` : text
}

/** The driver has given the statement up, because it could not be prepared, and has told so. */
function isGivenUp(command: Command): boolean {
  return Object.hasOwn(command, 'start')
}

function watchEnd(command: Command, text: string, end: End): void {
  const { onResult: tell } = command
  if (isGivenUp(command)) command.once('end', () => end(undefined, {}, `${text} (not sent)`))
  else if (tell === undefined) {
    let failure: unknown
    command.once('error', (error) => (failure = error))
    // the rows are read as they come
    command.once('end', () => end(failure))
  } else
    command.onResult = (error, ...rest) => {
      end(error, answerOf(text, rest[0]))
      tell(error, ...rest)
    }
}

/** As the driver tells: whoever waits for the end of a command hears of it, too. */
function refuse(command: Command, why: Error): void {
  if (command.onResult !== undefined) {
    if (!isGivenUp(command)) command.onResult(why)
    command.emit('end')
  } else {
    // a listener may be put on it as soon as it was given
    process.nextTick(() => {
      command.emit('error', why)
      command.emit('end')
    })
  }
}

function answerOf(text: string, answer: unknown): Answer {
  if (Array.isArray(answer)) return { rows: answer }
  return countIn(text, (answer as { readonly affectedRows?: unknown } | undefined)?.affectedRows)
}
