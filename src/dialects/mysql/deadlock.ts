import { sql } from '../sql.ts'
import { textOf } from '../inspect-session.ts'
import type { DeadlockFound, DeadlockReader, Question, Replies } from '../tools.ts'
import { isOfNames, nameCircle, nameWaitQuestion, refusedNameQuestion } from './deadlock-names.ts'
import { reportedDeadlock, type ReportedDeadlock } from './deadlock-report.ts'

const report: Question = {
  ask: sql('SHOW ENGINE INNODB STATUS'),
  unknown: 'who waited for whom: this user lacks the privilege PROCESS, which the report of InnoDB needs',
}

const self: Question = { ask: sql('SELECT CONNECTION_ID() AS id'), unknown: 'whose deadlock it was' }

/** InnoDB remembers its latest deadlock. Of user locks nobody does, so those who wait are asked. */
export const deadlocks: DeadlockReader = {
  questions: (clues) =>
    isOfNames(clues) ? { refused: refusedNameQuestion(clues), waiting: nameWaitQuestion } : { self, report },
  read: (replies, clues) => {
    if (!isOfNames(clues)) return ofRows(replies, clues.sinceMs)
    const sessions = nameCircle(clues, replies.refused?.[0], replies.waiting)
    const isWhole = sessions.length > 1 && sessions.at(-1)?.waits?.blockedBy[0] === sessions[0]?.id
    return { sessions, unseen: isWhole ? [] : [noCircle] }
  },
  latest: {
    questions: { report },
    read: ({ report: rows }) => {
      const found = reportedDeadlock(rows)
      if (rows === undefined) return { deadlocks: [], unseen: [] }
      return { deadlocks: found === undefined ? [] : [foundIn(found)], unseen: [onlyRows] }
    },
  },
}

const noCircle =
  'all of the circle: the others had gone on, or this user may not see their statements (PROCESS)'

const onlyRows =
  'deadlocks but for the latest one, and those of user locks and definitions: InnoDB remembers one, and only of rows and tables'

const another =
  'who waited for whom: the report of InnoDB is of another deadlock. It has only the latest one, and none of definitions'

/** The times in the report are whole seconds. */
const roundingMs = 2000

function ofRows({ report: rows, self: asker }: Replies, sinceMs: number): DeadlockFound {
  const found = reportedDeadlock(rows)
  if (rows === undefined) return { sessions: [], unseen: [] }
  const victim = found?.sessions.find(({ isVictim }) => isVictim)?.id
  const isThis =
    found !== undefined && victim === textOf(asker?.[0]?.id) && found.agoMs <= sinceMs + roundingMs
  return isThis ? foundIn(found) : { sessions: [], unseen: [another] }
}

function foundIn({ at, sessions }: ReportedDeadlock): DeadlockFound {
  return { at, sessions, unseen: [] }
}
