import { UnsentCommit, type Session, type TransactionStart } from '../../core/session.ts'
import type { Row, SqlStatement } from '../../core/statement.ts'
import type { Line } from './line.ts'
import { checkAutocommit, mustHaveBegun } from './server-status.ts'
import { sqlOnly } from '../statement-kind.ts'
import { hasEnded, mannerOf } from '../transaction-body.ts'
import {
  accessWords,
  headTexts,
  isolationWords,
  sendInTurn,
  undoneOnError,
  withoutMode,
} from '../transaction-start.ts'

/** What a session does by statements, whichever driver sends them. */
type Statements = Pick<Session, 'run' | 'begin' | 'beginsBy' | 'commit' | 'rollback' | 'stored'>

export function statementsOn<Command extends object>(line: Line<Command>, isLent: () => boolean): Statements {
  const { body, wire } = line
  // of a transaction that has locked tables autocommit is off by our own will, until it is put back at its end
  let isAutocommitOurs = false
  const undo = async (): Promise<void> => {
    body.giveUp()
    line.drop(hasEnded())
    if (body.asksBeforeRollback) await line.ask()
    await line.send('ROLLBACK', 'free')
    body.over()
  }
  return {
    run: async (statement) => {
      if (!isLent()) throw hasEnded()
      const answer = await runOn(line, sqlOnly(statement))
      if (!isAutocommitOurs) checkAutocommit(wire.statusOf(answer))
      return rowsOf(answer)
    },
    beginsBy: async () => checkAutocommit(wire.statusOf(await line.send('DO 0', 'free'))),
    begin: (start = {}) => {
      isAutocommitOurs = start.by !== undefined
      return beginOn(line, start, undo)
    },
    commit: async () => {
      body.close()
      // behind all that the work has started: a deadlock leaves a connection on which every COMMIT succeeds
      try {
        await line.send('COMMIT', 'commit')
      } catch (error) {
        throw wire.isUnsent(error) ? new UnsentCommit(error) : error
      }
      body.over()
    },
    rollback: undo,
    stored: () => body.stored,
  }
}

async function beginOn<Command extends object>(
  line: Line<Command>,
  start: TransactionStart,
  undo: () => Promise<void>,
): Promise<readonly Row[]> {
  const [texts, head] = [beginTexts(start), headTexts(start)]
  const { wire } = line
  const begin = async (): Promise<unknown> => {
    const status = wire.statusOf(await sendInTurn(texts, (text) => line.send(text, 'free')))
    if (start.by === undefined) checkAutocommit(status)
    else mustHaveBegun(status)
    line.begin(start.by !== undefined)
    return sendInTurn(head, (text) => line.send(wire.reading(text, []), 'free'))
  }
  return rowsOf(await undoneOnError(begin, undo))
}

async function runOn<Command extends object>(line: Line<Command>, statement: SqlStatement): Promise<unknown> {
  const { sql, params } = statement
  const manner = mannerOf(statement)
  // A SELECT stores nothing, so the look whether there is a transaction may come after it: one that is repeated while
  // others hold the rows is not looked after each time.
  const answer = await line.send(line.wire.reading(sql, params), manner)
  if (manner === 'read' && line.body.isInDoubt) await line.confirm()
  return answer
}

function rowsOf(answer: unknown): readonly Row[] {
  return Array.isArray(answer) ? (answer as readonly Row[]) : []
}

/** The level is that of the next transaction only; START TRANSACTION itself has no word for it. */
export function beginTexts(start: TransactionStart): readonly string[] {
  withoutMode(start)
  const level = isolationWords(start)
  // no level is said there: nobody else can change what can be read
  if (start.by !== undefined) return headTexts({ head: start.by })
  const begin = ['START TRANSACTION', ...accessWords(start)].join(' ')
  return level.length === 0 ? [begin] : [['SET TRANSACTION', ...level].join(' '), begin]
}
