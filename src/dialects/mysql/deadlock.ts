import type { DeadlockedSession } from '../../core/deadlock.ts'
import { sql } from '../sql.ts'
import { textOf } from '../inspect-session.ts'
import type { DeadlockFound, DeadlockReader, Question, Replies } from '../tools.ts'
import { isOfNames, nameCircle, nameWaitQuestion, refusedNameQuestion } from './deadlock-names.ts'
import { reportedDeadlock, type ReportedDeadlock } from './deadlock-report.ts'

const report: Question = {
  ask: sql('SHOW ENGINE INNODB STATUS'),
  unknown: 'who waited for whom: this user lacks the privilege PROCESS, which the report of InnoDB needs',
}

const self: Question = {
  ask: sql('SELECT CONNECTION_ID() AS id, VERSION() AS version'),
  unknown: 'whose deadlock it was',
}

const server: Question = {
  ask: sql('SELECT VERSION() AS version'),
  unknown: 'whether this server names the right victim',
}

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
    questions: { server, report },
    read: ({ report: rows, server: told }) => {
      const found = reportedDeadlock(rows, told?.[0]?.version)
      if (rows === undefined) return { deadlocks: [], unseen: [] }
      if (found === undefined) return { deadlocks: [], unseen: [onlyRows] }
      return {
        deadlocks: [foundIn(found)],
        unseen: found.isVictimSure ? [onlyRows] : [wrongVictim, onlyRows],
      }
    },
  },
}

const noCircle =
  'all of the circle: the others had gone on, or this user may not see their statements (PROCESS)'

const onlyRows =
  'deadlocks but for the latest one, and those of user locks and definitions: InnoDB remembers one, and only of rows and tables'

const wrongVictim =
  'who was the victim: MariaDB names the wrong one in its report, from 10.6 to before 10.11.19, and maybe in later series'

const another =
  'who waited for whom: the report of InnoDB is of another deadlock. It has only the latest one, and none of definitions'

/** The times in the report are whole seconds. */
const roundingMs = 2000

function ofRows({ report: rows, self: asker }: Replies, sinceMs: number): DeadlockFound {
  const { id, version } = asker?.[0] ?? {}
  const own = textOf(id)
  const found = reportedDeadlock(rows, version)
  if (rows === undefined) return { sessions: [], unseen: [] }
  if (found === undefined || found.agoMs > sinceMs + roundingMs) return { sessions: [], unseen: [another] }
  // who asks has just lost: where the report does not say who it was, to be in it is enough
  const isOwn = (one: DeadlockedSession): boolean => one.id === own && (one.isVictim || !found.isVictimSure)
  if (!found.sessions.some(isOwn)) return { sessions: [], unseen: [another] }
  return foundIn({
    ...found,
    sessions: found.sessions.map((one) => Object.assign(one, { isVictim: one.id === own })),
  })
}

function foundIn({ at, sessions }: ReportedDeadlock): DeadlockFound {
  return { at, sessions, unseen: [] }
}
