import type { DeadlockNote, Look } from './look.ts'

/** The same look, for those who may see the locks and not what is run. */
export function withoutStatements({ sessions, deadlocks, ...look }: Look): Look {
  return {
    ...look,
    sessions: sessions.map(({ statement: _, ...session }) => session),
    deadlocks: { ...deadlocks, latest: deadlocks.latest.map(quiet) },
  }
}

function quiet({ sessions, ...note }: DeadlockNote): DeadlockNote {
  return { ...note, sessions: sessions.map(({ statement: _, ran: __, ...session }) => session) }
}
